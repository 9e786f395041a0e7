import { expect, test } from 'vitest';
import type { JsonObject } from '../process/json-object.ts';
import { createLanes } from './acp-lanes.ts';

/** A connection that answers everything but `hold`, as a library behind a lane does. */
function openLanes(lanesMax: number) {
  const sent: JsonObject[] = [];
  const opened: (string | null)[] = [];
  const closed: (string | null)[] = [];
  const lanes = createLanes({
    ...{ lanesMax, note: () => {} },
    output: {
      send: (message) => void sent.push(message as JsonObject),
      drained: async () => {},
    },
    open(stream, lane) {
      opened.push(lane);
      const writer = stream.writable.getWriter();
      void (async () => {
        for await (const message of stream.readable as unknown as AsyncIterable<JsonObject>) {
          if (message.id === undefined || message.method === 'hold') continue;
          const answer = { jsonrpc: '2.0', id: message.id, result: message };
          await writer.write(answer as never);
        }
      })();
      return { close: () => void closed.push(lane) };
    },
  });
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { lanes, sent, opened, closed, turn };
}

test('[WP35] above the limit the idle lane goes; when all are busy a request is refused', async () => {
  const { lanes, sent, opened, closed, turn } = openLanes(2);
  lanes.take({ id: 1, method: 'hold', sessionId: 'busy' });
  lanes.take({ id: 2, method: 'm', sessionId: 'idle' });
  await turn();
  lanes.take({ id: 3, method: 'hold', sessionId: 'next' });
  await turn();
  expect([opened, closed]).toEqual([['busy', 'idle', 'next'], ['idle']]);
  lanes.take({ id: 4, method: 'm', sessionId: 'too-many' });
  expect(sent.at(-1)).toMatchObject({ id: 4, sessionId: 'too-many', error: { code: 9 } });
});

test('[WP11] a lane that begins without initialize is given one; what follows waits for its answer', async () => {
  const { lanes, sent, turn } = openLanes(2);
  const params = { protocolVersion: 1, clientCapabilities: { terminal: true } };
  lanes.take({ id: 'i', method: 'initialize', params });
  lanes.take({ id: true, method: 'first', sessionId: 'S', _ext: {}, pool: 'p', agentId: 'a' });
  lanes.take({ id: 'second', method: 'second', sessionId: 'S' });
  await turn();
  expect(sent.map(({ id, sessionId }) => [id, sessionId])).toEqual([
    ['i', undefined],
    [true, 'S'],
    ['second', 'S'],
  ]);
  // What the library saw: numbers of its own, and nothing of the bus.
  expect(sent[1]?.result).toEqual({ jsonrpc: '2.0', id: expect.any(Number), method: 'first' });
});
