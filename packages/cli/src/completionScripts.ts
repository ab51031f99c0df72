/** A command, its options and its own verbs, as completions need them. */
export interface Completion {
  name: string;
  summary: string;
  options: {
    flag: string;
    summary: string;
    /** What comes after it. */
    takes: "nothing" | "file" | "value";
    /** The values that it allows; empty where it allows any. */
    values: string[];
  }[];
  /** The values that it takes without an option. */
  values: string[];
  /** Whether it takes a file without an option. */
  takesFile: boolean;
  verbs: Completion[];
}

/** A command with the words that lead to it after the program's name; empty for the program itself. */
type Placed = Completion & { path: string };

/** All commands below one, and itself first. */
export function completionsOf(command: Completion, path: string[] = []): Placed[] {
  const below = command.verbs.flatMap((verb) => completionsOf(verb, [...path, verb.name]));
  return [{ ...command, path: path.join(" ") }, ...below];
}

/** The script for each shell. */
export const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

const wordsOf = ({ verbs, values, options }: Placed): string[] => [
  ...verbs.map(({ name }) => name),
  ...values,
  ...options.map(({ flag }) => flag),
];

/** A function that bash calls with the words so far. */
function bashScript(commands: Placed[]): string {
  const paths = commands.slice(1).map(({ path }) => `"${path}"`);
  const afterOptions = commands.flatMap(({ path, options }) =>
    options
      .filter(({ takes }) => takes !== "nothing")
      .map(({ flag, takes, values }) => {
        const found =
          takes === "file" ? "_rabbitmq_delay_files" : `COMPREPLY=($(compgen -W "${values.join(" ")}" -- "$word"))`;
        return `    "${path}:${flag}") ${found}; return ;;`;
      }),
  );
  const words = commands.map((command) => `    "${command.path}") words="${wordsOf(command).join(" ")}" ;;`);
  const withFile = commands.filter(({ takesFile }) => takesFile).map(({ path }) => `"${path}"`);
  return [
    "_rabbitmq_delay_files() {",
    // A name may have spaces, and a folder goes on with a slash; zsh does both by itself.
    "  local IFS=$'\\n'",
    '  COMPREPLY=($(compgen -f -- "$word"))',
    "  type compopt > /dev/null 2>&1 && compopt -o filenames 2> /dev/null",
    "}",
    "_rabbitmq_delay() {",
    '  local word="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" path="" words="" i',
    // Bash takes the sign in --option=value for a word of its own.
    '  if [[ "$word" == "=" ]]; then word=""; elif [[ "$previous" == "=" ]]; then previous="${COMP_WORDS[COMP_CWORD-2]}"; fi',
    "  for ((i = 1; i < COMP_CWORD; i++)); do",
    '    case "${path:+$path }${COMP_WORDS[i]}" in',
    `      ${paths.join(" | ")}) path="\${path:+$path }\${COMP_WORDS[i]}" ;;`,
    "    esac",
    "  done",
    '  case "$path:$previous" in',
    ...afterOptions,
    "  esac",
    '  case "$path" in',
    ...words,
    "  esac",
    ...(withFile.length === 0
      ? []
      : [
          '  case "$path" in',
          `    ${withFile.join(" | ")}) [[ "$word" == -* ]] || { _rabbitmq_delay_files; return; } ;;`,
          "  esac",
        ]),
    '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
    "}",
    "complete -F _rabbitmq_delay rabbitmq-delay",
  ].join("\n");
}

/** Zsh runs functions of bash. */
function zshScript(commands: Placed[]): string {
  const ready = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }";
  return [ready, "autoload -Uz bashcompinit && bashcompinit", bashScript(commands)].join("\n");
}

/** A line for each word that may come. */
function fishScript(commands: Placed[]): string {
  const paths = commands.slice(1).map(({ path }) => quote(path));
  const lines = commands.flatMap(({ path, verbs, values, takesFile, options }) => {
    const at = `complete -c rabbitmq-delay -n ${quote(`test "$(__rabbitmq_delay_path)" = "${path}"`)}`;
    return [
      ...verbs.map(({ name, summary }) => `${at} -a ${name} -d ${quote(summary)}`),
      ...values.map((value) => `${at} -a ${value}`),
      ...(takesFile ? [`${at} -F`] : []),
      ...options.map(({ flag, summary, takes, values: allowed }) => {
        const name = flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`;
        const list = allowed.length === 0 ? "" : ` -a ${quote(allowed.join(" "))}`;
        const value = takes === "nothing" ? "" : ` -r${takes === "file" ? " -F" : list}`;
        return `${at} ${name}${value} -d ${quote(summary)}`;
      }),
    ];
  });
  return [
    "function __rabbitmq_delay_path",
    "  set -l path",
    "  for word in (commandline -opc)[2..]",
    `    contains -- (string join " " -- $path $word) ${paths.join(" ")}; and set -a path $word`,
    "  end",
    '  string join " " -- $path',
    "end",
    "complete -c rabbitmq-delay -f",
    ...lines,
  ].join("\n");
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
