/**
 * The streaming echo: says a text back in pieces, as `session/update` notifications that carry the
 * id of their request, then answers. Many requests stream at once and interleave. A cancel, of the
 * request or of its session, ends it at the next piece.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { cancelledId, isObject, type JsonObject, textAt } from '../process/json-object.ts';
import { CODE, ProgramError } from './program-error.ts';
import { type LineIo, type LineOutput, type LineProgram, serveLines } from './stdio-lines.ts';

const CHUNKS_MAX = 10_000;
const DELAY_MS_MAX = 60_000;
const STREAMS_MAX = 1_024;

export function runStreamEcho(io: LineIo): Promise<void> {
  return serveLines(createStreamEcho, io);
}

interface Stream {
  readonly session: string | undefined;
  readonly agentSession: string | undefined;
  readonly ending: AbortController;
}

/** Why a stream was ended: the two cancels are answered differently. */
type Ending = 'request' | 'session';

export function createStreamEcho(output: LineOutput): LineProgram {
  const streams = new Map<unknown, Stream>();
  const running = new Set<Promise<void>>();

  function end(which: (stream: Stream, id: unknown) => boolean, ending: Ending): void {
    for (const [id, stream] of streams) if (which(stream, id)) stream.ending.abort(ending);
  }
  async function answer(message: JsonObject): Promise<void> {
    const { id, sessionId } = message;
    const around = { jsonrpc: '2.0', id, ...(sessionId !== undefined && { sessionId }) };
    try {
      output.send({ ...around, result: await resultOf(message) });
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error;
      const { code, message: text, detail } = error;
      output.send({ ...around, error: { code, message: text, data: detail } });
    }
  }
  async function resultOf(message: JsonObject): Promise<JsonObject> {
    const { id, method, params } = message;
    if (method === 'initialize') return { protocolVersion: 1, agentCapabilities: {} };
    if (method === 'session/new') return { sessionId: randomUUID() };
    const { pieces, delayMs } = parseParams(params);
    if (streams.size >= STREAMS_MAX) {
      throw new ProgramError(CODE.exhausted, `${STREAMS_MAX} streams run; wait for one to end`);
    }
    const stream: Stream = {
      session: textAt(message, 'sessionId'),
      agentSession: textAt(params, 'sessionId'),
      ending: new AbortController(),
    };
    const { signal } = stream.ending;
    streams.set(id, stream);
    try {
      for (const text of pieces) {
        // Also without a delay the others, and a cancel, have their turn between two pieces.
        if (delayMs === 0) await turn();
        else await wait(delayMs, undefined, { signal }).catch(() => {});
        if (signal.aborted) break;
        output.send(chunkOf(stream, id, text));
        await output.drained();
      }
    } finally {
      streams.delete(id);
    }
    if (!signal.aborted) return { stopReason: 'end_turn', chunks: pieces.length };
    if (signal.reason === 'session') return { stopReason: 'cancelled' };
    throw new ProgramError(CODE.cancelled, 'the request was cancelled');
  }
  return {
    take(message) {
      const { id, method, params } = message;
      if (typeof method !== 'string') return;
      if (id !== undefined) {
        const one = answer(message).finally(() => running.delete(one));
        running.add(one);
        return;
      }
      const cancelled = cancelledId(message);
      if (cancelled !== null) end((_, other) => other === cancelled.id, 'request');
      if (method !== 'session/cancel') return;
      const agentSession = textAt(params, 'sessionId');
      const session = textAt(message, 'sessionId');
      end(
        (stream) =>
          agentSession === undefined
            ? session !== undefined && stream.session === session
            : stream.agentSession === agentSession,
        'session',
      );
    },
    async finish() {
      await Promise.all(running);
    },
  };
}

function chunkOf({ session, agentSession }: Stream, requestId: unknown, text: string): JsonObject {
  return {
    jsonrpc: '2.0',
    method: 'session/update',
    ...(session !== undefined && { sessionId: session }),
    params: {
      ...(agentSession !== undefined && { sessionId: agentSession }),
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
    },
    _ext: { requestId },
  };
}

function parseParams(params: unknown): { pieces: readonly string[]; delayMs: number } {
  const { chunks, delayMs = 0 } = isObject(params) ? params : {};
  const text = textAt(params, 'text') ?? promptText(params);
  if (text === undefined) throw invalid('params.text must be a string');
  if (!isWhole(delayMs, 0, DELAY_MS_MAX)) {
    throw invalid(`params.delayMs must be a whole number up to ${DELAY_MS_MAX}`);
  }
  if (chunks !== undefined && !isWhole(chunks, 1, CHUNKS_MAX)) {
    throw invalid(`params.chunks must be a whole number from 1 to ${CHUNKS_MAX}`);
  }
  return { pieces: chunks === undefined ? words(text) : cutInto(text, chunks), delayMs };
}

/** The text blocks of an ACP prompt. */
function promptText(params: unknown): string | undefined {
  const prompt = isObject(params) ? params.prompt : undefined;
  if (!Array.isArray(prompt)) return undefined;
  return prompt.map((block) => textAt(block, 'text') ?? '').join('\n');
}

function words(text: string): readonly string[] {
  const pieces = text.match(/\S+\s*|^\s+/g) ?? [];
  return pieces.length > CHUNKS_MAX ? cutInto(text, CHUNKS_MAX) : pieces;
}

/** In so many pieces, or fewer when the text is shorter; no character is cut in two. */
function cutInto(text: string, count: number): readonly string[] {
  const characters = Array.from(text);
  const pieces = Math.min(count, characters.length);
  return Array.from({ length: pieces }, (_, at) =>
    characters
      .slice(
        Math.floor((at * characters.length) / pieces),
        Math.floor(((at + 1) * characters.length) / pieces),
      )
      .join(''),
  );
}

function isWhole(value: unknown, min: number, max: number): value is number {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}

function invalid(message: string): ProgramError {
  return new ProgramError(CODE.invalidParams, message);
}
