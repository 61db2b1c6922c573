/** Completion scripts for shells, from the table of commands. They complete words only: no config is run while someone types. */
import type { Command, Help, Option } from "commander";

interface Flag {
  readonly words: readonly string[];
  readonly about: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

interface Completed {
  readonly name: string;
  readonly about: string;
  readonly flags: readonly Flag[];
  /** The choices of the first argument. Without any, arguments are completed as files. */
  readonly choices: readonly string[];
}

type Script = (commands: readonly Completed[]) => string;

/** Each shell with its script, and with the line that installs it. */
export const SHELLS: Readonly<Record<string, { readonly script: Script; readonly install: string }>> = {
  bash: { script: toBash, install: "echo 'eval \"$(toolwright completion bash)\"' >> ~/.bashrc" },
  zsh: { script: toZsh, install: "echo 'eval \"$(toolwright completion zsh)\"' >> ~/.zshrc" },
  fish: {
    script: toFish,
    install: "toolwright completion fish > ~/.config/fish/completions/toolwright.fish",
  },
};

export function completionScript(program: Command, shell: string): string {
  const help = program.createHelp();
  const commands = help.visibleCommands(program).map((command) => ({
    name: command.name(),
    about: help.subcommandDescription(command),
    flags: command.name() === "help" ? [] : flagsOf(command, help),
    choices:
      command.name() === "help"
        ? program.commands.map((other) => other.name())
        : (command.registeredArguments[0]?.argChoices ?? command.commands.map((inner) => inner.name())),
  }));
  return SHELLS[shell]?.script(commands) ?? "";
}

/** The options of a command, or of all commands inside it. */
function flagsOf(command: Command, help: Help): Flag[] {
  const options = [command, ...command.commands].flatMap((one) => help.visibleOptions(one));
  return [...new Map(options.map((option) => [option.long ?? option.short, toFlag(option)])).values()];
}

function toFlag({ short, long, description, required, optional, argChoices = [] }: Option): Flag {
  const words = [short, long].filter((word) => word !== undefined);
  return { words, about: description, takesValue: required || optional, choices: argChoices };
}

function toBash(commands: readonly Completed[]): string {
  const cases = commands.flatMap(({ name, flags, choices }) => [
    ...flags
      .filter(({ takesValue }) => takesValue)
      .map(
        ({ words, choices: values }) =>
          `    ${words.map((word) => `"${name} ${word}"`).join("|")}) words="${values.join(" ")}" ;;`,
      ),
    `    "${name} "*) if [[ $current == -* ]]; then words="${flags.flatMap(({ words }) => words).join(" ")}"; ` +
      `elif (( COMP_CWORD == 2 )); then words="${choices.join(" ")}"; fi ;;`,
  ]);
  return `# toolwright completion for bash. Words without a completion are completed as files.
_toolwright() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  if (( COMP_CWORD == 1 )); then
    words="${commands.map(({ name }) => name).join(" ")} --help --version"
  else
    case "\${COMP_WORDS[1]} \${COMP_WORDS[COMP_CWORD - 1]}" in
${cases.join("\n")}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _toolwright toolwright
`;
}

function toZsh(commands: readonly Completed[]): string {
  const text = (words: string): string => words.replaceAll(/[[\]:\\]/g, String.raw`\$&`);
  const flag = ({ words, about, takesValue, choices }: Flag): string[] =>
    words.map((word) => {
      const value = takesValue ? `:value:${choices.length > 0 ? `(${choices.join(" ")})` : "_files"}` : "";
      return single(`${word}[${text(about)}]${value}`);
    });
  const cases = commands.map(({ name, flags, choices }) => {
    const first = choices.length > 0 ? [single(`1:word:(${choices.join(" ")})`)] : [];
    return `    ${name}) _arguments ${[...flags.flatMap(flag), ...first, "'*:file:_files'"].join(" ")} ;;`;
  });
  return `#compdef toolwright
# toolwright completion for zsh.
_toolwright() {
  local -a commands
  commands=(${commands.map(({ name, about }) => single(`${name}:${text(about)}`)).join(" ")})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case "$words[1]" in
${cases.join("\n")}
  esac
}
# In a folder of fpath, this file is the function itself. Elsewhere, it defines the function.
if [[ "$funcstack[1]" == "_toolwright" ]]; then
  _toolwright "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
  compdef _toolwright toolwright
fi
`;
}

function toFish(commands: readonly Completed[]): string {
  const lines = commands.flatMap(({ name, about, flags, choices }) => {
    const inside = `complete -c toolwright -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c toolwright -n __fish_use_subcommand -f -a ${name} -d ${single(about)}`,
      ...(choices.length > 0 ? [`${inside} -f -a ${single(choices.join(" "))}`] : []),
      ...flags.map(({ words, about: what, takesValue, choices: values }) => {
        const names = words.map((word) =>
          word.startsWith("--") ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`,
        );
        const value = takesValue ? [values.length > 0 ? `-x -a ${single(values.join(" "))}` : "-r"] : [];
        return [inside, ...names, ...value, `-d ${single(what)}`].join(" ");
      }),
    ];
  });
  return `# toolwright completion for fish.\n${lines.join("\n")}\n`;
}

/** In single quotes. Our descriptions are constants, and fish has no other way to quote a quote than this one. */
function single(words: string): string {
  return `'${words.replaceAll("'", String.raw`'\''`)}'`;
}
