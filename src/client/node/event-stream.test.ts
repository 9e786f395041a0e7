import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { readEvents } from './event-stream.ts';

async function eventsOf(...chunks: string[]): Promise<unknown[]> {
  const source = new PassThrough();
  for (const chunk of chunks) source.write(chunk);
  source.end();
  const events: unknown[] = [];
  for await (const event of readEvents(source)) events.push(event);
  return events;
}

test('events are whole however the bytes arrive', async () => {
  const text = 'id: 7\nevent: message\ndata: {"a":"é"}\n\n';
  const halves = [text.slice(0, 9), text.slice(9, 30), text.slice(30)];
  expect(await eventsOf(...halves)).toEqual([{ event: 'message', data: '{"a":"é"}', id: '7' }]);
});

test('comments, several data lines and other line ends', async () => {
  expect(
    await eventsOf(': synod, from 3\r\n\r\n', 'event: end\r\ndata: a\r\ndata: b\r\n\r\n'),
  ).toEqual([
    { event: ':', data: 'synod, from 3', id: null },
    { event: 'end', data: 'a\nb', id: null },
  ]);
});

test('an event cut short is none', async () => {
  expect(await eventsOf('data: {"half":')).toEqual([]);
});
