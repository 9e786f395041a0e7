/**
 * One token that marks without end: ten thousand marks with notes at their bound on one thread, and a
 * thread beneath a channel of ten thousand messages. Whoever reads is shown a page, and pays for a page.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isRefusal } from '../../src/core/law/decider.ts';
import { type Hub, openHub } from '../../src/hub/hub.ts';
import { openMemoryLog } from '../../src/log/memory.ts';
import { threadHandlers } from '../../src/server/desk/handlers/threads.ts';
import { outputText } from '../../src/server/desk/output-text.ts';
import type { Room } from '../../src/server/desk/room.ts';
import { realClock } from '../../src/server/run/clock.ts';
import { accepted, createPrincipal, PLAIN_SEND } from '../../src/testing/story.ts';

const mal = createPrincipal('mal');
const note = 'ü'.repeat(4_096);
let hub: Hub;
let reads = 0;
beforeAll(async () => {
  const log = await openMemoryLog();
  const at = log.at.bind(log);
  log.at = (positions) => {
    reads += positions.length;
    return at(positions);
  };
  hub = await openHub({ space: 'test', log, clock: realClock, cacheBytesMax: 0 });
});
afterAll(() => hub.close());

const room = (): Room => ({ hub, by: createPrincipal('ada') }) as unknown as Room;

test('[TM2] [TM10] ten thousand marks and messages cost a reader a page', async () => {
  const send = async () =>
    accepted(
      await hub.submit({ ...PLAIN_SEND, by: mal, at: hub.stamp(), channel: 'a', body: '{}' }),
    );
  const first = await send();
  const root = { ...first, channel: 'a', sender: 'mal', owners: [] };
  const asked = { type: 'thread.mark', by: mal, root, note, expectedVersion: null } as const;
  const marks = Array.from({ length: 10_000 }, (_, i) =>
    hub.submit({ ...asked, at: hub.stamp(), mark: i % 2 === 0 ? 'close' : 'reopen' }),
  );
  await Promise.all([...marks, ...Array.from({ length: 10_000 }, send)]);
  reads = 0;
  const input = { message_id: `m${first.position}`, limit: 100 };
  const page = await threadHandlers['threads.get'](room(), input);
  if (isRefusal(page)) throw new Error(page.message);
  expect(page.thread.version).toBe(10_000);
  expect(page.marks.length).toBeLessThanOrEqual(50);
  expect(Buffer.byteLength(outputText(page))).toBeLessThan(256 * 1024);
  expect(reads).toBeLessThan(60);
  reads = 0;
  const list = await threadHandlers['threads.list'](room(), { author: 'nobody', limit: 50 });
  expect(list).toEqual({ threads: [], next: null });
  expect(reads).toBeLessThan(10);
});
