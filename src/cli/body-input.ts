/** What a person wants to say: a text, `-` for standard input (bounded), or a JSON object or file. */
import { readFileSync } from 'node:fs';
import { readJson } from '../core/law/json.ts';
import { fail } from './failure.ts';
import { parseObject } from './parse-value.ts';

const STDIN_BYTES_MAX = 4 * 1024 * 1024;

/** Plain text becomes `{"text": …}`. */
export async function bodyOf(
  text: string | undefined,
  json: string | undefined,
): Promise<Record<string, unknown>> {
  if ((text === undefined) === (json === undefined)) {
    throw fail('cli.usage', 'say what to send: either a text or --body JSON');
  }
  if (json !== undefined) return parseObject(json === '-' ? await readStdin() : json, 'the body');
  return { text: await textOf(text ?? '') };
}

export async function textOf(text: string): Promise<string> {
  return text === '-' ? (await readStdin()).replace(/\r?\n$/, '') : text;
}

/** Everything on standard input, as text. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > STDIN_BYTES_MAX) {
      throw fail('cli.usage', `standard input holds more than ${STDIN_BYTES_MAX} bytes`);
    }
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A file that a person named, as JSON. */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return readJson(readFileSync(path, 'utf8'));
  } catch (cause) {
    const why = (cause as Error).message;
    throw fail('config.invalid', `${path} cannot be read as JSON: ${why}`, { cause });
  }
}
