/** Programs of turns at several servers, each a process: one that starts leaves alone what runs at another. */
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../e2e/deadline.ts';
import type { Json } from '../e2e/running-hub.ts';
import { NO_NATS } from './server.ts';
import { NAMES, type Name, openThreeServers, type ThreeServers } from './three-servers.ts';

const SOON_MS = 60_000;

describe.skipIf(NO_NATS !== null)(`turns at three servers ${NO_NATS ?? ''}`, () => {
  let three: ThreeServers;
  const work = realpathSync(mkdtempSync(join(tmpdir(), 'synod-turns-')));
  const read = (name: string): string =>
    existsSync(join(work, name)) ? readFileSync(join(work, name), 'utf8') : '';
  beforeAll(async () => {
    three = await openThreeServers({ turns_roots: [work] });
  }, 120_000);
  afterAll(async () => {
    await three?.close();
    rmSync(work, { recursive: true, force: true });
  });

  async function manage(agent: string, script: string): Promise<void> {
    const command = ['/bin/sh', '-c', `${script}; echo '{"outcome":"done"}'`];
    await three.ask('a', agent, 'subscribe', { pattern: `to/${agent}` });
    const managed = await three.ask('a', three.owner('a'), 'agents_manage', {
      ...{ agent_id: agent, runner: { kind: 'command', command, cwd: work } },
      limits: { turns_per_10_min: 1_000, pair_per_min: 1_000 },
    });
    expect(managed.refused).toBeUndefined();
  }
  const tell = (agent: string, at: Name): Promise<Json> =>
    three.ask(at, 'bob', 'send', {
      channel: `to/${agent}`,
      body: { text: `${performance.now()}` },
    });
  const turnOf = async (agent: string): Promise<Json> =>
    (await three.ask('c', three.owner('c'), 'turns_list', { agent_id: agent })).turns?.[0];
  const nameOf = (url: string): Name | undefined =>
    NAMES.find((name) => three.urlOf(name) === url.trim());

  /** Turns of another agent, until one of them runs at this server: then it sees to turns. */
  async function untilItRuns(at: Name): Promise<void> {
    await until(
      `${at} runs turns`,
      async () => {
        await tell('bea', at);
        await setTimeout(100);
        return read('bea');
      },
      (urls) => urls.split('\n').some((url) => nameOf(url) === at),
      SOON_MS,
    );
  }

  test('[RU25] a server that starts ends what it left itself, and no turn that runs at another', async () => {
    await manage('bea', 'echo "$SYNOD_URL" >> bea');
    await manage('ada', 'echo "$SYNOD_URL" > ada; until [ -e go ]; do sleep 0.1; done');
    await tell('ada', 'b');
    const runs = nameOf(
      await until(
        'ada’s turn runs',
        async () => read('ada'),
        (url) => url.endsWith('\n'),
        SOON_MS,
      ),
    ) as Name;
    const other = runs === 'c' ? 'b' : NAMES.find((name) => name !== runs && name !== 'c');
    await three.kill(other as Name);
    await three.start(other as Name);
    await untilItRuns(other as Name);
    expect(await turnOf('ada')).toMatchObject({ state: 'busy', attempt: 1 });
    writeFileSync(join(work, 'go'), '');
    const done = await until(
      'ada’s turn is done',
      () => turnOf('ada'),
      (turn) => turn?.state === 'done',
      SOON_MS,
    );
    expect(done).toMatchObject({ attempt: 1, after_restart: false });
  }, 240_000);

  test('[RU25] [RU19] its own it reports as cut off when it comes back', async () => {
    rmSync(join(work, 'go'));
    rmSync(join(work, 'ada'));
    await tell('ada', 'b');
    const url = await until(
      'ada’s turn runs again',
      async () => read('ada'),
      (text) => text.endsWith('\n'),
      SOON_MS,
    );
    const runs = nameOf(url) as Name;
    await three.kill(runs);
    writeFileSync(join(work, 'go'), '');
    await three.start(runs);
    const turn = await until(
      'it is tried again',
      async () =>
        (await three.ask(runs, three.owner(runs), 'turns_list', { agent_id: 'ada' })).turns?.[0],
      (one) => one?.state === 'done' && one.attempt > 1,
      SOON_MS,
    );
    expect(turn).toMatchObject({ attempt: 2, after_restart: true });
  }, 240_000);
});
