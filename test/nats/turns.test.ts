/**
 * Programs of turns at several servers, each a process: one that starts leaves alone what runs at another, and what ran at
 * one that is lost is begun again elsewhere.
 */
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
import { rankServers } from '../../src/log/choose-holder.ts';
import { until } from '../e2e/deadline.ts';
import type { Json } from '../e2e/running-hub.ts';
import { NO_NATS } from './server.ts';
import { NAMES, type Name, openThreeServers, type ThreeServers } from './three-servers.ts';

const SOON_MS = 60_000;

interface Run {
  readonly at: Name | undefined;
  readonly token: string;
  readonly pid: number;
}

describe.skipIf(NO_NATS !== null)(`turns at three servers ${NO_NATS ?? ''}`, () => {
  let three: ThreeServers;
  const work = realpathSync(mkdtempSync(join(tmpdir(), 'synod-turns-')));
  const read = (name: string): string =>
    existsSync(join(work, name)) ? readFileSync(join(work, name), 'utf8') : '';
  beforeAll(async () => {
    three = await openThreeServers({ turns_roots: [work] });
    await manage('bea', 'echo "$SYNOD_URL" >> bea');
  }, 120_000);
  afterAll(async () => {
    await three?.close();
    rmSync(work, { recursive: true, force: true });
  });

  async function manage(
    agent: string,
    script: string,
    ending = '',
    space = 'default',
  ): Promise<void> {
    const command = ['/bin/sh', '-c', `${script}; echo '{"outcome":"done"${ending}}'`];
    await three.ask('a', { agent, space }, 'subscribe', { pattern: `to/${agent}` });
    const managed = await three.ask('a', { ...three.owner('a'), space }, 'agents_manage', {
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
  const turnOf = async (agent: string, at: Name = 'c'): Promise<Json> =>
    (await three.ask(at, three.owner(at), 'turns_list', { agent_id: agent })).turns?.[0];
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

  /** An agent whose program notes where it runs, by which token, and waits for a word for each of its runs. */
  const waits = (agent: string): string =>
    `echo "$SYNOD_URL $SYNOD_TOKEN $$" >> ${agent}; n=$(wc -l < ${agent}); until [ -e ${agent}-$n ]; do sleep 0.1; done`;
  const runsOf = (agent: string): Run[] =>
    read(agent)
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split(' '))
      .map(([url = '', token = '', pid]) => ({ at: nameOf(url), token, pid: Number(pid) }));
  const go = (agent: string, run: number): void => writeFileSync(join(work, `${agent}-${run}`), '');

  /** The server that runs it, once the turn has its whole lease: what ends it soon is not that this is over. */
  async function begin(agent: string): Promise<Name> {
    await tell(agent, 'b');
    const leaseOf = ({ lease_until: until, taken_at: from }: Json): number => until - from;
    await until(
      `the turn of ${agent} runs`,
      () => turnOf(agent),
      (turn) => turn?.state === 'busy' && leaseOf(turn) > 60,
      SOON_MS,
    );
    // Its program may not have come to its first line yet.
    await another(agent, 1);
    return runsOf(agent)[0]?.at as Name;
  }
  const another = async (agent: string, runs: number): Promise<void> =>
    void (await until(
      `${agent} has run ${runs} times`,
      async () => runsOf(agent).length,
      (count) => count >= runs,
      SOON_MS,
    ));

  test('[RU26] what a killed server ran runs at another within seconds, and not twice', async () => {
    await manage('cyd', waits('cyd'));
    const first = await begin('cyd');
    await three.kill(first);
    const killedAt = performance.now();
    await another('cyd', 2);
    const waitedMs = performance.now() - killedAt;
    // Four times what a sequencer is waited for, and no lease: that is ten minutes.
    expect(waitedMs).toBeGreaterThan(7_500);
    expect(waitedMs).toBeLessThan(30_000);
    const second = runsOf('cyd')[1]?.at as Name;
    expect(NAMES.filter((name) => name !== first)).toContain(second);
    expect(await turnOf('cyd', second)).toMatchObject({
      ...{ state: 'busy', attempt: 2, failures: 0, after_restart: true },
    });
    // It comes back, with a note of its own that it ran it.
    await three.start(first);
    await untilItRuns(first);
    expect(await turnOf('cyd', first)).toMatchObject({ state: 'busy', attempt: 2 });
    go('cyd', 2);
    const done = await until(
      'cyd’s turn is done',
      () => turnOf('cyd', first),
      (turn) => turn?.state === 'done',
      SOON_MS,
    );
    expect(done).toMatchObject({ attempt: 2, failures: 0 });
    expect(runsOf('cyd')).toHaveLength(2);
  }, 240_000);

  test('[RU26] [SQ28] what it ran in a space that no other has open runs again too, and nobody asks for the space', async () => {
    // Whoever should have it has opened it by itself, and then it stays there.
    const space = spaceOf('a');
    const made = await three.ask('a', three.owner('a'), 'spaces_create', { name: space });
    expect(made.refused).toBeUndefined();
    await manage('eve', waits('eve'), '', space);
    const mail = { channel: 'to/eve', body: { text: 'go' } };
    await three.ask('a', { agent: 'bob', space }, 'send', mail);
    await another('eve', 1);
    const told = await until(
      'a says that it has the space',
      () => three.ask('a', three.owner('a'), 'cluster_status', {}),
      ({ spaces }) => spaces?.some((one: Json) => one.space === space),
      SOON_MS,
    );
    expect(told.spaces.find((one: Json) => one.space === space)).toMatchObject({
      ...{ sequencer: 'a', positions: [{ server: 'a' }] },
    });
    await three.kill('a');
    await another('eve', 2);
    expect(runsOf('eve')[1]?.at).not.toBe('a');
    go('eve', 2);
    await three.start('a');
  }, 240_000);

  test('[RU26] [TN6] one that was only paused loses nothing in seconds; later its run is over, and what it says is refused', async () => {
    const reply = '{"channel":"said","body":{"text":"of run \'"$n"\'"}}';
    await manage('dan', waits('dan'), `,"replies":[${reply}]`);
    await three.ask('a', 'bob', 'subscribe', { pattern: 'said' });
    const first = await begin('dan');
    const elsewhere = NAMES.find((name) => name !== first) as Name;
    three.pause(first);
    await setTimeout(5_000);
    three.resume(first);
    await until(
      `${first} is there again`,
      () => three.ask(first, 'bob', 'send', { channel: 'other', body: {} }),
      ({ refused }) => refused === undefined,
      SOON_MS,
    );
    await setTimeout(5_000);
    expect(await turnOf('dan', elsewhere)).toMatchObject({ state: 'busy', attempt: 1 });
    three.pause(first);
    await another('dan', 2);
    const [late, again] = runsOf('dan') as [Run, Run];
    expect(again.at).not.toBe(first);
    // The program of the first run ends well while nobody listens to it, and what it was handed opens no door.
    go('dan', 1);
    const said = { channel: 'said', body: { text: 'late' } };
    const refused = await three.ask(elsewhere, { token: late.token }, 'send', said);
    expect(JSON.stringify(refused)).toContain('turn.stale');
    three.resume(first);
    await until(
      `${first} has heard of it`,
      () => turnOf('dan', first),
      (turn) => turn?.attempt === 2,
      SOON_MS,
    );
    await untilItRuns(first);
    for (const name of NAMES) {
      expect(await turnOf('dan', name)).toMatchObject({ state: 'busy', attempt: 2 });
    }
    // And a program that still runs is ended when its server hears that its run is over.
    three.pause(again.at as Name);
    await another('dan', 3);
    three.resume(again.at as Name);
    await until('the second run is ended', async () => isAlive(again.pid), isNot, SOON_MS);
    go('dan', 3);
    const done = await until(
      'dan’s turn is done',
      () => turnOf('dan', first),
      (turn) => turn?.state === 'done',
      SOON_MS,
    );
    expect(done).toMatchObject({ attempt: 3, failures: 1, sends: 1 });
    const replayed = await three.ask(first, 'bob', 'replay', { channel: 'said', since: 0 });
    expect(replayed).toMatchObject({ messages: [{ body: { text: 'of run 3' } }] });
    expect(runsOf('dan')).toHaveLength(3);
  }, 240_000);
});

/** A space that belongs to that server while all are there. */
function spaceOf(server: Name): string {
  const names = Array.from({ length: 20 }, (_, i) => `only-${i}`);
  return names.find((name) => rankServers(name, NAMES)[0] === server) ?? '';
}

const isNot = (is: boolean): boolean => !is;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
