/**
 * A program that is stopped (Ctrl-Z, a debugger, a laptop's lid) does not read. It is cut off so that
 * nothing piles up, the hub's log says so, and when it goes on soon it finds the documented reason.
 */
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until, within } from '../e2e/deadline.ts';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub();
});
afterAll(() => hub.close());

/** What a farewell gets of those who do read: a stopped reader has longer, and sits here until that is past. */
const FAREWELL_MS = 1_000;
const text = 'x'.repeat(900_000);

async function floodUntilCutOff(channel: string, line: string): Promise<void> {
  await until(
    'the reader is cut off',
    () => hub.agent.ask('send', { channel, body: { text } }),
    () => hub.log.some((one) => one.includes(line)),
    30_000,
  );
}

test('[F3] over WebSocket it is cut off with a line in the log, and reads 4008 when it goes on', async () => {
  const reader = await hub.observer.socket();
  await reader.ask('stream.open', { channels: ['flood'] });
  const tcp = (reader.ws as unknown as { _socket: Socket })._socket;
  tcp.pause();
  await floodUntilCutOff('flood', 'a reader was cut off: "olga" in default did not take ');
  expect(hub.log.find((one) => one.includes('cut off'))).toMatch(/^warn .* bytes \(WebSocket\)/);
  expect((await hub.agent.ask('status')).feeds).toBe(0);
  await pause(FAREWELL_MS + 200);
  tcp.resume();
  expect(await within('the close', reader.closed)).toEqual({ code: 4008, reason: 'slow_reader' });
});

test('[F3] over SSE it is told at the end of what it was sent', async () => {
  const reader = await hub.human.events('?channels=flood');
  reader.pause();
  await floodUntilCutOff('flood', 'a reader was cut off: "hilda"');
  await pause(FAREWELL_MS + 200);
  reader.resume();
  expect((await reader.next('end')).body).toEqual({ reason: 'slow_reader' });
  await within('the end', reader.ended);
});
