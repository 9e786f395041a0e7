/**
 * Holds a discipline document to its form: the headings of SOX in their order, one level-1 heading,
 * the four tokens and no other, and no tool name where a token belongs [DI1].
 *
 * Headings in code blocks are not headings. Every finding says the line and what to do.
 */
export type LintRule =
  | 'heading-missing'
  | 'heading-order'
  | 'level-1-collision'
  | 'token-unknown'
  | 'tool-named';

export interface LintFinding {
  readonly rule: LintRule;
  /** From 1; 0 for what is not there at all. */
  readonly line: number;
  readonly message: string;
}

export const TITLE = '# Inter-agent channels';

export const HEADINGS: readonly string[] = [
  TITLE,
  '## When to send',
  '## How to send',
  '## Polling cadence',
  '## The send-and-continue pattern',
  '## The speculative-then-reconcile recipe',
  '## Anti-patterns',
  '## What not to use channels for',
];

/** Token to tool. */
export const TOKENS: Readonly<Record<string, string>> = {
  '{{send_tool}}': 'channels__send',
  '{{recv_tool}}': 'channels__recv',
  '{{subscribe_tool}}': 'channels__subscribe',
  '{{list_tool}}': 'channels__list_channels',
};

interface DocumentLine {
  readonly number: number;
  readonly text: string;
  readonly isCode: boolean;
}

export function lintDiscipline(document: string): LintFinding[] {
  const lines = readLines(document);
  return [...lintHeadings(lines), ...lintTitles(lines), ...lines.flatMap(lintWords)].sort(
    (a, b) => a.line - b.line,
  );
}

function lintHeadings(lines: readonly DocumentLine[]): LintFinding[] {
  const prose = lines.filter(({ isCode }) => !isCode);
  const findings: LintFinding[] = [];
  let last = { heading: '', line: 0 };
  for (const heading of HEADINGS) {
    const found = prose.find(({ text }) => text.trim() === heading);
    if (found === undefined) {
      const message = `"${heading}" is missing; add it as a line of its own, spelt exactly so`;
      findings.push({ rule: 'heading-missing', line: 0, message });
    } else if (found.number < last.line) {
      const message = `"${heading}" stands before "${last.heading}"; move it behind that section`;
      findings.push({ rule: 'heading-order', line: found.number, message });
    } else last = { heading, line: found.number };
  }
  return findings;
}

/** A skill or a rules file has one title, and this document is put into both. */
function lintTitles(lines: readonly DocumentLine[]): LintFinding[] {
  const prose = lines.filter(({ isCode }) => !isCode);
  const titles = prose.filter(({ text, number }) => {
    const below = lines[number];
    const isUnderlined =
      below !== undefined &&
      !below.isCode &&
      /^ {0,3}=+\s*$/.test(below.text) &&
      text.trim() !== '';
    return /^ {0,3}#(\s|$)/.test(text) || isUnderlined;
  });
  const first = titles.findIndex(({ text }) => text.trim() === TITLE);
  return titles
    .filter((_, at) => at !== first)
    .map(({ number, text }) => ({
      rule: 'level-1-collision',
      line: number,
      message: `"${text.trim()}" is a second level-1 heading; make it level 2 or lower`,
    }));
}

function lintWords({ text, number }: DocumentLine): LintFinding[] {
  const tokens = [...text.matchAll(/\{\{[^}]*\}?\}?/g)]
    .map(([token]) => token)
    .filter((token) => !Object.hasOwn(TOKENS, token))
    .map((token): LintFinding => {
      const message = `${token} is not a token; known are ${Object.keys(TOKENS).join(' ')}`;
      return { rule: 'token-unknown', line: number, message };
    });
  const names = Object.entries(TOKENS)
    .filter(([, tool]) => new RegExp(`${tool}(?![A-Za-z0-9_])`).test(text))
    .map(([token, tool]): LintFinding => {
      const message = `${tool} is named; write ${token}, which becomes its true name for each vendor`;
      return { rule: 'tool-named', line: number, message };
    });
  return [...tokens, ...names];
}

function readLines(document: string): DocumentLine[] {
  let fence: string | null = null;
  return document.split(/\r?\n/).map((text, at) => {
    const [, mark] = /^ {0,3}(`{3,}|~{3,})/.exec(text) ?? [];
    const isClosing = fence !== null && mark?.startsWith(fence) && /^\s*[`~]+\s*$/.test(text);
    const isCode = fence !== null || mark !== undefined;
    if (isClosing) fence = null;
    else if (fence === null && mark !== undefined) fence = mark;
    return { number: at + 1, text, isCode };
  });
}
