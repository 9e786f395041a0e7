/** What a person wants to say: a text, `-` for standard input, or a JSON object instead. */
import { fail } from './failure.ts';
import { parseObject } from './parse-value.ts';
import { readStdin } from './stdin.ts';

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
