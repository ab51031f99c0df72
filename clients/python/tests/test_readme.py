"""Runs the first two programs of the README as they stand, on the broker of the environment; without one, skips them."""

import ast
import asyncio
import contextlib
import inspect
import io
import json
import os
import re
import unittest
from pathlib import Path
from unittest import mock

import pika

URL = os.environ.get("RABBITMQ_URL", "")
README = Path(__file__).parents[1] / "README.md"


async def run(block: str, names: dict) -> None:
    """Runs a block as `python -m asyncio` does, which takes `await` outside of functions."""
    code = compile(block, str(README), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(code, names)
    if inspect.iscoroutine(result):
        await result


@unittest.skipIf(URL == "", "RABBITMQ_URL is not set")
class Readme(unittest.TestCase):
    def test_its_first_two_programs_run(self) -> None:
        first, second = re.findall(r"^```python\n(.*?)^```$", README.read_text("utf-8"), re.DOTALL | re.MULTILINE)[:2]
        asyncio.run(self.run_both(first, second))

    async def run_both(self, first: str, second: str) -> None:
        names: dict = {"__name__": "__main__"}
        printed = io.StringIO()
        with mock.patch.dict(os.environ, DELAY_NETWORK=os.environ["LONG_NETWORK"]):
            with contextlib.redirect_stdout(printed):
                await run(first, names)
        self.assertRegex(printed.getvalue(), r"^[0-9a-f-]{36} arrives at \d{4}-")
        names["connection"].close()
        await run(second, names)
        await names["connection"].close()
        self.assertEqual(self.count_waiting(), 3)

    def count_waiting(self) -> int:
        """The number of messages in the level queues of the network; with radix 2, each level has one."""
        network = json.loads(os.environ["LONG_NETWORK"])
        connection = pika.BlockingConnection(pika.URLParameters(URL))
        self.addCleanup(connection.close)
        channel = connection.channel()
        levels = [f"{network['prefix']}.level-{level:02}-1" for level in range(network["levels"])]
        return sum(channel.queue_declare(name, passive=True).method.message_count for name in levels)
