/**
 * `synod completion bash|zsh|fish`: a script for the shell, made from the commands themselves, so it
 * cannot forget one. It completes words and options and asks the hub nothing.
 */
import type { Command } from 'commander';
import { handle } from './context.ts';
import { fail } from './failure.ts';

/** A command that is not there before it is loaded. */
interface Loadable {
  readonly name: string;
  load(): Promise<(program: Command) => void>;
}

/** What may follow: below `''` the commands, below `groups` its verbs. */
interface Words {
  readonly path: string;
  readonly words: readonly { readonly word: string; readonly text: string }[];
}

export function registerCompletion(program: Command, others: readonly Loadable[]): void {
  // Which there are only commander knows: this command is never read without it.
  const { commands: known } = program;
  const command = program
    .command('completion')
    .description('print a completion script, e.g. for: source <(synod completion bash)')
    .argument('<shell>', 'bash, zsh or fish');
  handle(command, async ({ args, show }) => {
    const [shell = ''] = args;
    const make = SCRIPTS[shell];
    if (make === undefined)
      throw fail(
        'cli.usage',
        `there is no completion for ${shell}; there is for bash, zsh and fish`,
      );
    const script = make(await allWords(program, known, others));
    show({ shell, script }, () => [script]);
  });
}

async function allWords(
  root: Command,
  known: readonly Command[],
  others: readonly Loadable[],
): Promise<Words[]> {
  const names = new Set(known.map((one) => one.name()));
  for (const { name, load } of others) if (!names.has(name)) (await load())(root);
  const globals = optionsOf(root);
  const found: Words[] = [];
  const visit = (command: Command, path: string): void => {
    const verbs = command.commands.map((one) => ({ word: one.name(), text: one.description() }));
    const own = command === root ? [] : optionsOf(command);
    found.push({ path, words: [...verbs, ...own, ...globals] });
    for (const one of command.commands)
      visit(one, path === '' ? one.name() : `${path} ${one.name()}`);
  };
  visit(root, '');
  return found;
}

function optionsOf(command: Command): { word: string; text: string }[] {
  return command.options.flatMap(({ long, description }) =>
    long == null ? [] : [{ word: long, text: description }],
  );
}

const SCRIPTS: Readonly<Record<string, (all: readonly Words[]) => string>> = {
  bash: (all) => `_synod() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
${walk(all)}
    esac
  done
  case "$path" in
${all.map(({ path, words }) => `    "${path}") COMPREPLY=($(compgen -W "${words.map(({ word }) => word).join(' ')}" -- "$cur")) ;;`).join('\n')}
  esac
}
complete -o default -F _synod synod`,
  zsh: (all) => `#compdef synod
_synod() {
  local path="" word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$path $word" in
${walk(all)}
    esac
  done
  case "$path" in
${all.map(({ path, words }) => `    "${path}") compadd -- ${words.map(({ word }) => word).join(' ')} ;;`).join('\n')}
  esac
  _files
}
compdef _synod synod`,
  fish: (all) =>
    all
      .flatMap(({ path, words }) =>
        words.map(({ word, text }) => {
          const when =
            path === ''
              ? '__fish_use_subcommand'
              : path
                  .split(' ')
                  .map((one) => `__fish_seen_subcommand_from ${one}`)
                  .join('; and ');
          const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`;
          return `complete -c synod -n '${when}' ${what} -d ${quote(text)}`;
        }),
      )
      .join('\n'),
};

/** Which word leads from which command to which. */
function walk(all: readonly Words[]): string {
  return all
    .filter(({ path }) => path !== '')
    .map(({ path }) => {
      const words = path.split(' ');
      const parent = words.slice(0, -1).join(' ');
      return `      "${parent} ${words.at(-1)}") path="${path}" ;;`;
    })
    .join('\n');
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
