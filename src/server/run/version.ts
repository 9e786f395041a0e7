/** The version of this program, from its package. */
import { readFileSync } from 'node:fs';
import { readJson } from '../../core/law/json.ts';

export function packageVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (readJson(text) as { version: string }).version;
}
