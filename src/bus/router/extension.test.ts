/** What a worker is told about a client: by the bus, whatever the client says. */
import { expect, test } from 'vitest';
import { hear, openSmallBus, say, serve } from '../../../test/simulation/bus/small-bus.ts';
import { textOf } from '../process/byte-line.ts';

const ADA = { subjectId: 'ada', role: 'lead', assertedBy: 'bus' } as const;
const CLAIM = { subjectId: 'boss', role: 'admin', assertedBy: 'bus' };

test('[BU16] whom the bus knows it names, and what the client claims is replaced', async () => {
  const { worker, connect } = await openSmallBus();
  const ada = connect('ada', ADA);
  ada.ask(1, 'm');
  ada.ask(2, 'm', { _ext: { identity: CLAIM, more: 'kept' } });
  ada.send({ method: 'note', _ext: { identity: CLAIM } });
  const [first, second, note] = hear(worker('a/0'));
  expect(first._ext).toEqual({ identity: ADA });
  expect(second._ext).toEqual({ identity: ADA, more: 'kept' });
  expect(note._ext).toEqual({ identity: ADA });
});

test('[BU16] whom the bus does not know speaks for itself, whatever it wrote', async () => {
  const { worker, connect } = await openSmallBus();
  const client = connect();
  client.ask(1, 'm', { _ext: { identity: CLAIM } });
  client.ask(2, 'm', { _ext: { identity: { subjectId: 'x' } } });
  client.send({ method: 'note', _ext: { identity: CLAIM } });
  for (const { _ext } of hear(worker('a/0'))) expect(_ext.identity.assertedBy).toBe('self');
});

test.each([
  '{"identity":{"assertedBy":"bus"},"identity":{"assertedBy":"self"}}',
  '{"identity":{"assertedBy":"bus","assertedBy":"self"}}',
  '{"identity":{"assertedBy":"bus"},"\\u0069dentity":null}',
])('[BU16] saying it twice does not help, whichever a worker reads: %s', async (ext) => {
  const { worker, connect } = await openSmallBus();
  const client = connect();
  client.send(`{"id":1,"method":"m","_ext":${ext}}`);
  client.send(`{"method":"m","_ext":${ext}}`);
  hear(worker('a/0'));
  for (const line of worker('a/0').heard) expect(textOf(line)).not.toContain('"bus"');
});

test('[BU16] an answer to a worker’s question speaks for the bus no more than a request', async () => {
  const { worker, connect } = await openSmallBus();
  for (const [label, identity] of [
    ['somebody', null],
    ['ada', ADA],
  ] as const) {
    const client = connect(label, identity);
    client.ask(1, 'm', { sessionId: label });
    serve(worker('a/0'));
    client.got();
    for (const _ext of [{ identity: CLAIM }, { identity: CLAIM, idempotencyKey: 5 }]) {
      say(worker('a/0'), { id: 1, method: 'may I', sessionId: label });
      const [{ id }] = client.got();
      client.send({ id, result: 'yes', _ext });
      const [answer] = hear(worker('a/0'));
      expect(answer).toMatchObject({ id: 1, result: 'yes' });
      expect(JSON.stringify(answer)).not.toMatch(identity ? /boss/ : /"bus"/);
    }
    client.peer.close('closed', false);
  }
});
