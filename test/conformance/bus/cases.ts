/**
 * The reference's conformance lists, rebuilt: what its Node, C++, Python and registry tests check
 * of a bus, as cases that know nothing of the door they run behind. Where the reference loses a
 * message, the case wants it delivered.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Message, Talk } from '../../e2e/bus-process.ts';

export interface Case {
  readonly title: string;
  run(talk: Talk): Promise<void>;
}

type Any = Message & Record<string, unknown>;
const next = async (talk: Talk): Promise<Any> => (await talk.next()) as Any;
const statsOf = async (talk: Talk): Promise<Record<string, number>> =>
  (await talk.ask('stdio_bus/stats')).result as Record<string, number>;
const echoOf = ({ result }: Message): unknown => result?.echo;

/** Over TCP the bus adds who showed which token; that aside, a message is what was sent. */
function asSent(message: Any): Any {
  const { _ext, ...rest } = message;
  const { identity, ...ext } = (_ext ?? {}) as { identity?: { assertedBy?: string } };
  if (identity?.assertedBy !== 'bus') return message;
  return Object.keys(ext).length === 0 ? rest : { ...rest, _ext: ext };
}

/** So many messages, whatever their order, by id. */
async function collect(talk: Talk, count: number): Promise<Map<unknown, Any>> {
  const byId = new Map<unknown, Any>();
  for (let i = 0; i < count; i += 1) {
    const message = await next(talk);
    expect(byId.has(message.id)).toBe(false);
    byId.set(message.id, message);
  }
  return byId;
}

/** Node's list: `/bin/cat`, so every line comes back as the worker saw it, under its own id. */
export const CAT_CASES: readonly Case[] = [
  {
    title: 'a request comes back under its id',
    async run(talk) {
      talk.send({ jsonrpc: '2.0', id: 'one', method: 'test/echo', params: { a: 1 } });
      expect(asSent(await next(talk))).toEqual({
        jsonrpc: '2.0',
        id: 'one',
        method: 'test/echo',
        params: { a: 1 },
      });
    },
  },
  {
    title: 'a notification comes back with its method and no id',
    async run(talk) {
      talk.send({ jsonrpc: '2.0', method: 'test/notify', params: {} });
      expect(asSent(await next(talk))).toEqual({
        jsonrpc: '2.0',
        method: 'test/notify',
        params: {},
      });
    },
  },
  {
    title: 'five requests come back, all and in order',
    async run(talk) {
      for (let i = 0; i < 5; i += 1) talk.send({ jsonrpc: '2.0', id: `multi-${i}`, method: 'm' });
      for (let i = 0; i < 5; i += 1) expect((await next(talk)).id).toBe(`multi-${i}`);
    },
  },
  {
    title: '10 KB, 100 KB and 4 MB come back intact',
    async run(talk) {
      for (const bytes of [10_240, 102_400, 4_194_304]) {
        const params = { text: 'ü'.repeat(bytes / 2) };
        talk.send({ jsonrpc: '2.0', id: bytes, method: 'm', params });
        expect((await next(talk)).params).toEqual(params);
      }
    },
  },
  {
    title: 'invalid JSON is answered and harms nobody',
    async run(talk) {
      for (const line of ['not json', '{"id":"x","method":"unterminated', '{"id":1,}', '7']) {
        talk.send(line);
        expect(await next(talk)).toMatchObject({ id: null, error: { code: -32_700 } });
      }
      talk.send('{"id":"after","method":"m"}');
      expect((await next(talk)).id).toBe('after');
    },
  },
  {
    title: 'messages and bytes in are counted',
    async run(talk) {
      const before = await statsOf(talk);
      talk.send('{"id":"counted","method":"m"}');
      await next(talk);
      const after = await statsOf(talk);
      expect(after.messages_in).toBe((before.messages_in ?? 0) + 1);
      expect(after.bytes_in).toBeGreaterThan(before.bytes_in ?? 0);
    },
  },
  {
    title: 'agentId, session, _ext and unknown members reach the worker as they are',
    async run(talk) {
      const message = {
        jsonrpc: '2.0',
        method: 'm',
        sessionId: 'client-1-abc',
        agentId: 'coder',
        _ext: {
          identity: { subjectId: 'x', role: 'y', assertedBy: 'self' },
          audit: { eventId: 'e' },
        },
        other: [1, { two: '3' }],
      };
      talk.send({ ...message, id: 'all' });
      const { identity: _, ...ext } = message._ext;
      // Whoever is known by a token cannot say that they are another.
      const told = [message, { ...message, _ext: ext }].map((one) => ({ ...one, id: 'all' }));
      expect(told).toContainEqual(asSent(await next(talk)));
    },
  },
  {
    title: 'white space, CRLF, blank lines, empty strings, escapes and nesting are no trouble',
    async run(talk) {
      talk.send('');
      talk.send('   ');
      talk.send(' { "jsonrpc" : "2.0" , "id" : "ws" , "method" : "m" } \r');
      expect(asSent(await next(talk))).toEqual({ jsonrpc: '2.0', id: 'ws', method: 'm' });
      const raw =
        '{"id":"\\u0065\\"\\\\","method":"","sessionId":"","params":{"id":9,"x":[[{"method":"n"}]]}}';
      talk.send(raw);
      expect(asSent(await next(talk))).toEqual(JSON.parse(raw));
    },
  },
  {
    title: 'a session that is no string is none, and params.sessionId is the worker’s business',
    async run(talk) {
      const before = await statsOf(talk);
      talk.send('{"id":"n","method":"m","sessionId":7,"params":{"sessionId":"agent-side"}}');
      expect((await next(talk)).id).toBe('n');
      expect((await statsOf(talk)).sessions).toBe(before.sessions);
    },
  },
];

/** C++'s list, Python's and the registry's, with the echo worker three times. */
export const ECHO_CASES: readonly Case[] = [
  {
    title: 'one request keeps id, jsonrpc and session',
    async run(talk) {
      talk.send({
        jsonrpc: '2.0',
        id: 'k',
        method: 'test',
        sessionId: 's-keep',
        params: { a: 'b' },
      });
      expect(await next(talk)).toEqual({
        jsonrpc: '2.0',
        id: 'k',
        sessionId: 's-keep',
        result: { echo: { a: 'b' }, method: 'test', timestamp: expect.any(String) },
      });
    },
  },
  {
    title: 'five sessions at once are each answered once',
    async run(talk) {
      for (let i = 0; i < 5; i += 1) talk.send({ id: i, method: 'm', sessionId: `conc-${i}` });
      const got = await collect(talk, 5);
      for (let i = 0; i < 5; i += 1) expect(got.get(i)?.sessionId).toBe(`conc-${i}`);
    },
  },
  {
    title: 'three sessions live on three workers and stay there, two rounds',
    async run(talk) {
      const homes: unknown[][] = [];
      for (let round = 0; round < 2; round += 1) {
        for (let i = 0; i < 3; i += 1) {
          talk.send({ id: i, method: 'm', sessionId: `stay-${i}`, params: { round } });
        }
        const got = await collect(talk, 3);
        const workers: unknown[] = [];
        for (let i = 0; i < 3; i += 1) {
          expect(got.get(i)).toMatchObject({ sessionId: `stay-${i}`, result: { echo: { round } } });
          const attached = await talk.ask('stdio_bus/attach', { sessionId: `stay-${i}` });
          workers.push(attached.result?.worker);
        }
        homes.push(workers);
      }
      expect(new Set(homes[0]).size).toBe(3);
      expect(homes[1]).toEqual(homes[0]);
    },
  },
  {
    title: 'ten ids are matched one to one, of whatever type',
    async run(talk) {
      const ids = [0, 1, -7, 1.5, 'text', '', null, 'x'.repeat(300), '日本', 9_007_199_254_740_991];
      for (const id of ids) talk.send({ jsonrpc: '2.0', id, method: 'm', params: { of: id } });
      const got = await collect(talk, 10);
      for (const id of ids) expect(echoOf(got.get(id) as Message)).toEqual({ of: id });
    },
  },
  {
    title: 'nine messages without a session are spread over three workers and all answered',
    async run(talk) {
      for (let id = 0; id < 9; id += 1) talk.send({ id, method: 'm' });
      expect((await collect(talk, 9)).size).toBe(9);
    },
  },
  {
    title: 'payloads on both sides of a pipe’s capacity are echoed',
    async run(talk) {
      for (const bytes of [64_000, 66_000, 1_048_576]) {
        const params = { x: 'x'.repeat(bytes) };
        expect(echoOf(await talk.ask('m', params))).toEqual(params);
      }
    },
  },
  {
    title: 'a notification has no answer, and the next request works',
    async run(talk) {
      talk.send({ jsonrpc: '2.0', method: 'quiet' });
      talk.send({ jsonrpc: '2.0', id: 'next', method: 'm' });
      expect((await next(talk)).id).toBe('next');
    },
  },
  {
    title: 'a notification of a session is told to it as the worker tells it',
    async run(talk) {
      talk.send({ jsonrpc: '2.0', method: 'loud', sessionId: 's-loud', params: { n: 1 } });
      expect(await next(talk)).toMatchObject({
        method: 'echo.notification',
        sessionId: 's-loud',
        params: { original: { method: 'loud', params: { n: 1 } } },
      });
    },
  },
  {
    title: 'the counters are at least what was sent',
    async run(talk) {
      const before = await statsOf(talk);
      for (let id = 0; id < 5; id += 1) talk.send({ id, method: 'm' });
      await collect(talk, 5);
      const after = await statsOf(talk);
      expect(after.messages_in).toBe((before.messages_in ?? 0) + 5);
      // The answer with the counters itself went out in between.
      expect(after.messages_out).toBe((before.messages_out ?? 0) + 6);
      expect(after.bytes_out).toBeGreaterThan(before.bytes_out ?? 0);
      expect(after).toMatchObject({ workers: 3, clients: 1, pending: 0, worker_restarts: 0 });
    },
  },
  {
    title: 'a batch, which the reference refuses, is answered',
    async run(talk) {
      talk.send('[{"id":1,"method":"m"},{"id":2,"method":"m"}]');
      const answers = (await talk.next()) as unknown as Any[];
      expect(answers.map(({ id }) => id).sort()).toEqual([1, 2]);
    },
  },
  {
    title:
      'hello is negotiated, and what is required and missing fails with the reference’s number',
    async run(talk) {
      const hello = await talk.ask('stdio_bus/hello', { protocolVersion: '0.1.0', extensions: {} });
      expect(hello.result).toMatchObject({ negotiatedProtocolVersion: '0.1.0' });
      const extensions = { x: { version: '1', required: true } };
      expect((await talk.ask('stdio_bus/hello', { extensions })).error?.code).toBe(6);
    },
  },
  {
    title: 'no pool of that name: an error under the id, where the reference is silent',
    async run(talk) {
      const { error } = await talk.ask('m', {}, { pool: 'nowhere' });
      expect(error).toMatchObject({
        code: 1,
        data: { code: 'bus.pool-unknown', mayHaveRun: false },
      });
    },
  },
  {
    title: 'any id and any session survive, one after the other, with all characters there are',
    async run(talk) {
      const text = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'grapheme' }),
        fc.string(),
      );
      const id = fc.oneof(text, fc.integer(), fc.constant(null));
      await fc.assert(
        fc.asyncProperty(id, text, fc.jsonValue(), async (one, sessionId, value) => {
          const asked = { jsonrpc: '2.0', id: one, method: 'm', sessionId, params: { value } };
          talk.send(asked);
          expect(await next(talk)).toMatchObject({ id: one, sessionId, result: { method: 'm' } });
        }),
        { numRuns: 60, seed: 20_261_115 },
      );
    },
  },
];
