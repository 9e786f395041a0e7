/**
 * Which spaces have managed agents, and which agents the configuration manages, on disk: a hub opens a
 * space when somebody asks for it, and nobody asks for one whose agents wait to be woken.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFields, parseJson } from '../../wire/fields.ts';
import { isSpaceName } from '../desk/spaces.ts';

export interface TurnSpaces {
  readonly spaces: readonly string[];
  /** `space/agent`. */
  readonly configured: readonly string[];
}

export function readTurnSpaces(dir: string): TurnSpaces {
  let text = '';
  try {
    text = readFileSync(pathOf(dir), 'utf8');
  } catch {
    // There was none yet.
  }
  const value = parseJson(text);
  const fields = isFields(value) ? value : {};
  const texts = (list: unknown): string[] =>
    Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [];
  return {
    spaces: texts(fields.spaces).filter(isSpaceName),
    configured: texts(fields.configured),
  };
}

export function writeTurnSpaces(dir: string, value: TurnSpaces): void {
  const path = pathOf(dir);
  mkdirSync(join(dir, 'turns'), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.${process.pid}`, `${JSON.stringify(value)}\n`, { mode: 0o600 });
  renameSync(`${path}.${process.pid}`, path);
}

function pathOf(dir: string): string {
  return join(dir, 'turns', 'spaces.json');
}
