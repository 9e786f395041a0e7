/**
 * Server-sent events out of bytes, wherever the chunks fall: also inside a character, between the
 * CR and the LF of a line end, or inside a field name. Only `data` is read; an event that grows past
 * its bound is refused.
 */
import { CODE, ProgramError } from './program-error.ts';

const EVENT_CHARS_MAX = 4 * 1024 * 1024;

/** The data of each event, in order. An event the stream ends inside of is not one. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let fields: string[] = [];
  let chars = 0;
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    // A CR at the end may be half of a line end: it waits for what follows.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    if (chars + rest.length > EVENT_CHARS_MAX) throw tooLong();
    for (const line of lines) {
      if (line === '') {
        if (fields.length > 0) yield fields.join('\n');
        fields = [];
        chars = 0;
      } else if (line.startsWith('data:')) {
        const value = line.slice(line[5] === ' ' ? 6 : 5);
        chars += value.length;
        if (chars > EVENT_CHARS_MAX) throw tooLong();
        fields.push(value);
      }
    }
  }
}

function tooLong(): ProgramError {
  return new ProgramError(
    CODE.transport,
    `the endpoint sent an event of more than ${EVENT_CHARS_MAX} characters`,
    { retryable: false },
  );
}
