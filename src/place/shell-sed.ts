/**
 * What `sed` writes: with -i its files, and their backups. A script that could write or run something
 * itself (`w`, `e`) leaves a doubt, so only the plainest scripts leave none.
 */
import type { Effect, Write } from './shell-arguments.ts';
import type { Word } from './shell-words.ts';

const ADDRESS = String.raw`(?:\d+|\$|\/(?:[^/\\\n]|\\.)*\/)`;
/** An address or two, then p, d, q, = or a substitution with harmless flags; then the end of it. */
const COMMAND: RegExp = new RegExp(
  String.raw`(?:${ADDRESS}(?:,\+?${ADDRESS})?)?[ !]*` +
    String.raw`(?:[pdq=]|s([/|#,@])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gIip\d]*) *(?=[;\n]|$)`,
  'y',
);

export function sedEffect(args: readonly Word[]): Effect {
  const parsed = parseSed(args);
  if (typeof parsed === 'string') return { writes: [], doubt: parsed };
  const { scripts, files, suffix } = parsed;
  const isPlain = scripts.every(({ text, isLiteral }) => isLiteral && isPlainScript(text));
  const doubt = isPlain ? null : 'the script of sed may write elsewhere';
  if (suffix === null) return { writes: [], doubt };
  const vague = files.find(({ isLiteral }) => !isLiteral);
  const writes: Write[] = files
    .filter(({ isLiteral }) => isLiteral)
    .flatMap(({ text }) => (suffix === '' ? [text] : [text, `${text}${suffix}`]))
    .map((path) => ({ path, reach: 'file', isFollowed: false }));
  return { writes, doubt: vague === undefined ? doubt : `"${vague.text}" is not literal` };
}

function isPlainScript(text: string): boolean {
  for (let at = 0; at < text.length; ) {
    if (/[\s;]/.test(text[at] as string)) {
      at++;
      continue;
    }
    COMMAND.lastIndex = at;
    if (!COMMAND.test(text)) return false;
    at = COMMAND.lastIndex;
  }
  return true;
}

interface Sed {
  readonly scripts: readonly Word[];
  readonly files: readonly Word[];
  /** Null without -i. */
  readonly suffix: string | null;
}

function parseSed(args: readonly Word[]): Sed | string {
  const scripts: Word[] = [];
  const files: Word[] = [];
  let suffix: string | null = null;
  let hasScript = false;
  for (let i = 0; i < args.length; i++) {
    const { text, isLiteral } = args[i] as Word;
    if (text === '--') {
      files.push(...args.slice(i + 1));
      break;
    }
    if (!text.startsWith('-') || text === '-') files.push(args[i] as Word);
    else if (!isLiteral) return `"${text}" is not literal`;
    else if (text === '--in-place') suffix = '';
    else if (text.startsWith('--in-place=')) suffix = text.slice('--in-place='.length);
    else if (text.startsWith('--')) {
      if (!/^--(quiet|silent|regexp-extended|separate|null-data)$/.test(text)) {
        return `the option ${text} is not one we know`;
      }
    } else {
      const [, flags = '', letter = '', rest = ''] = /^-([nErsuz]*)([ief]?)(.*)$/.exec(text) ?? [];
      if (letter === 'i') {
        suffix = rest;
        // The sed of BSD wants the suffix as a word of its own, and '' for none.
        if (rest === '' && args[i + 1]?.text === '') i++;
      } else if (letter === 'e') {
        const script = rest === '' ? args[++i] : { text: rest, isLiteral };
        if (script === undefined) return 'sed lacks its script';
        scripts.push(script);
        hasScript = true;
      } else if (letter === 'f') return 'the script of sed is in a file';
      else if (rest !== '') return `the option -${rest[0]} is not one we know`;
      else if (flags === '') return `the option ${text} is not one we know`;
    }
  }
  if (suffix !== null && /[*/]/.test(suffix)) return 'the backups of sed are named by a pattern';
  if (!hasScript) {
    const script = files.shift();
    if (script === undefined) return 'sed lacks its script';
    scripts.push(script);
  }
  return { scripts, files, suffix };
}
