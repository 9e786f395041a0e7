/** The echo worker as a process: the reference's answers, for any request and any session. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killWorkers, startWorker, type WorkerProcess } from './worker-process.ts';

let echo: WorkerProcess;
let count = 0;

beforeAll(() => {
  echo = startWorker(['echo']);
});
afterAll(killWorkers);

const RUNS = { numRuns: 100 };
/** As JSON carries them: a lone surrogate is not text. */
const text = fc.string({ unit: 'grapheme' });
const special = fc.oneof(
  text,
  fc.constantFrom('', '"', '\\', '\n', '\u2028', '\0', '__proto__', 'ключ', '🦊', ' '.repeat(300)),
);

/**
 * V8 of Node 24 takes a key that is written as an escape for the key `\\`, where an object before it had that in its
 * place: the test itself would read another answer than was written.
 */
const key = special.filter((one) => !one.includes('\\'));

test('[WP4] any request is answered once, with its id and what it brought', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(special, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
      special,
      fc.option(fc.dictionary(key, fc.jsonValue({ maxDepth: 2 })), { nil: undefined }),
      async (id, method, params) => {
        count += 1;
        const unique = typeof id === 'string' ? `${count}:${id}` : count + (id === 0 ? 0 : id % 1);
        const sent = JSON.parse(JSON.stringify({ jsonrpc: '2.0', id: unique, method, params }));
        echo.send(sent);
        const answer = await echo.answer(sent.id);
        expect(answer.result).toMatchObject({ method, echo: sent.params ?? {} });
        expect(Date.parse(answer.result.timestamp)).not.toBeNaN();
        expect('sessionId' in answer).toBe(false);
        expect(echo.heard.filter((one) => one.id === sent.id)).toHaveLength(1);
      },
    ),
    RUNS,
  );
});

test('[WP5] the session of a request is on its answer, whatever characters it has', async () => {
  await fc.assert(
    fc.asyncProperty(special, async (sessionId) => {
      count += 1;
      const id = `s${count}`;
      echo.send({ jsonrpc: '2.0', id, method: 'm', sessionId });
      expect(await echo.answer(id)).toMatchObject({ id, sessionId });
    }),
    RUNS,
  );
});

test('[WP6] a notification is never answered; one of a session comes back as echo.notification', async () => {
  const before = echo.heard.length;
  echo.send({ jsonrpc: '2.0', method: 'quiet' });
  echo.send({ jsonrpc: '2.0', method: 'loud', sessionId: 'S', params: { a: 1 } });
  echo.send({ jsonrpc: '2.0', id: 'after', method: 'm' });
  await echo.answer('after');
  const [notification, ...more] = echo.heard.slice(before);
  expect(more).toHaveLength(1);
  expect(notification).toMatchObject({
    method: 'echo.notification',
    sessionId: 'S',
    params: { original: { method: 'loud', params: { a: 1 } } },
  });
  expect(notification).not.toHaveProperty('id');
});

test('[WP2] a bad line costs nothing but a note', async () => {
  echo.write('{"half": \n\n[1]\n');
  echo.send({ jsonrpc: '2.0', id: 'still-here', method: 'm' });
  await echo.answer('still-here');
  await echo.noted(/not JSON; skipped[\s\S]*not a JSON object; skipped/);
  echo.send({ jsonrpc: '2.0', id: 'no-method' });
  expect((await echo.answer('no-method')).error.code).toBe(-32_600);
});

test('[WP1] a request of 8 MB comes back whole', async () => {
  const big = 'ä'.repeat(4 * 1024 * 1024);
  echo.send({ jsonrpc: '2.0', id: 'big', method: 'm', params: { big } });
  expect((await echo.answer('big')).result.echo.big).toBe(big);
});

test('[WP7] the end of the input and SIGTERM both mean: answer, then exit 0', async () => {
  const ended = startWorker(['echo']);
  for (let id = 0; id < 1_000; id += 1) ended.send({ jsonrpc: '2.0', id, method: 'm' });
  ended.child.stdin.end();
  expect(await ended.exited()).toBe(0);
  expect(ended.heard).toHaveLength(1_000);

  const stopped = startWorker(['echo']);
  stopped.send({ jsonrpc: '2.0', id: 1, method: 'm' });
  await stopped.answer(1);
  stopped.child.kill('SIGTERM');
  expect(await stopped.exited()).toBe(0);
});
