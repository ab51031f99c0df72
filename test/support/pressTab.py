"""Types a line into bash on a terminal, presses the tab key, and prints what the line is then."""

import os
import pty
import select
import sys

PROMPT = b"READY> "


def read_until(terminal: int, text: bytes) -> bytes:
    """What the terminal shows until a text is there, and what came with it.

    Raises `TimeoutError` when nothing has come for ten seconds.
    """
    seen = b""
    while text not in seen:
        if not select.select([terminal], [], [], 10)[0]:
            raise TimeoutError(repr(seen))
        seen += os.read(terminal, 4096)
    return seen


def main(script: str, line: str) -> None:
    child, terminal = pty.fork()
    if child == 0:
        environment = {**os.environ, "PS1": PROMPT.decode(), "TERM": "dumb", "INPUTRC": "/dev/null", "COLUMNS": "500"}
        os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], environment)
    read_until(terminal, PROMPT)
    # A shell that echoes the line's variable says what readline has made of it, whatever it has drawn.
    for command in (f"source '{script}'", "bind 'set enable-bracketed-paste off'", "bind 'set bell-style none'", "show() { printf '\\n<%s>\\n' \"$READLINE_LINE\"; }", "bind -x '\"\\C-xs\": show'"):
        os.write(terminal, command.encode() + b"\n")
        read_until(terminal, PROMPT)
    os.write(terminal, line.encode() + b"\t")
    os.write(terminal, b"\x18s")
    seen = read_until(terminal, b">\r\n")
    sys.stdout.write(seen.decode().split("\n<", 1)[1].split(">\r\n")[0])
    os.close(terminal)


main(*sys.argv[1:])
