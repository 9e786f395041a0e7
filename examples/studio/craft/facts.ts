/** What the brief says, as the analyst found it; every later role reads this and not the brief. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface Conversion {
  readonly from: string;
  readonly to: string;
  readonly factor: number;
}

export interface Facts {
  readonly name: string;
  readonly purpose: string;
  readonly users: readonly string[];
  readonly conversions: readonly Conversion[];
}

const FACTS = 'docs/facts.json';
const LINE = /^- 1 ([a-z]+) = ([\d.]+) ([a-z]+)$/gm;

export function parseBrief(brief: string): Facts {
  const [, name = 'The product'] = /^# (.+)$/m.exec(brief) ?? [];
  const [, purpose = ''] = /^#.+\n+([\s\S]*?)\n\n/m.exec(brief) ?? [];
  return {
    ...{ name, purpose: purpose.replaceAll('\n', ' ') },
    users: [...brief.matchAll(/^For: (.+)$/gm)].map(([, user = '']) => user),
    conversions: [...brief.matchAll(LINE)].map(([, from = '', factor, to = '']) => ({
      ...{ from, to, factor: Number(factor) },
    })),
  };
}

export async function readFacts(dir: string): Promise<Facts> {
  return JSON.parse(await readFile(join(dir, FACTS), 'utf8')) as Facts;
}

export async function writeFacts(dir: string, facts: Facts): Promise<string> {
  return put(dir, FACTS, `${JSON.stringify(facts, null, 2)}\n`);
}

export const moduleOf = ({ from, to }: Conversion): string => `src/${from}-${to}.js`;
export const taskOf = ({ from, to }: Conversion): string => `${from}-${to}`;

/** Writes a file of the product, and gives its name. */
export async function put(dir: string, path: string, text: string): Promise<string> {
  const whole = join(dir, path);
  await mkdir(dirname(whole), { recursive: true });
  await writeFile(whole, text);
  return path;
}
