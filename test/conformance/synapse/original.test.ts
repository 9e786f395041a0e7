/**
 * The original's own programs at our door. They are not part of this repository: SYNOD_SYNAPSE_CLI
 * names an installed `synapse` of 0.43 (with `syn` beside it); without it these tests are skipped, and
 * waiters.test.ts plays the same frames.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../e2e/deadline.ts';
import { openRunningHub, type RunningHub } from '../../e2e/running-hub.ts';
import { connectSynapse, type SynapseClient, synapseUrl } from './synapse-client.ts';

const program = process.env.SYNOD_SYNAPSE_CLI ?? '';
const run = promisify(execFile);
const token = 'a-shared-secret';
const SLOW_MS = 60_000;

describe.skipIf(program === '')(
  'the original’s programs (skipped unless SYNOD_SYNAPSE_CLI names one)',
  () => {
    let hub: RunningHub;
    let home: string;
    let url: string;
    let watcher: SynapseClient;

    beforeAll(async () => {
      home = await mkdtemp(join(tmpdir(), 'synod-original-'));
      const synapseRelay = join(home, 'feed.ndjson');
      hub = await openRunningHub({ flags: { synapse: '0', synapseToken: token, synapseRelay } });
      url = await synapseUrl(hub.dir);
      watcher = await connectSynapse(url, 'watcher', { token });
    });
    afterAll(async () => {
      await watcher.close();
      await hub.close();
      await rm(home, { recursive: true, force: true });
    });

    const env = () => ({
      ...process.env,
      HOME: home,
      SYN_HOME: home,
      SYNAPSE_NO_UPDATE_CHECK: '1',
    });
    const synapse = (command: string, ...args: string[]) =>
      run(program, [command, '--uri', url, '--token', token, ...args], { env: env() });
    const syn = (...args: string[]) =>
      run(join(dirname(program), 'syn'), ['--project', 'work', ...args], { env: env() });
    const untilHere = (name: string) =>
      watcher.next('presence_update', ({ agent, event }) => agent === name && event === 'joined');

    test(
      '[SY4] [RL5] send wakes wait and arm, and inbox shows what was said',
      async () => {
        const wait = synapse('wait', '--name', 'bob', '--timeout', '30');
        const arm = syn('--id', '7', 'arm', '--uri', url, '--token', token, '--timeout', '30');
        await Promise.all([untilHere('bob-rx'), untilHere('work/claude-7-rx')]);
        await hub.ask('webby', 'send', { channel: 'dm/bob~webby', body: { text: 'from the web' } });
        expect((await wait).stdout).toBe('webby: from the web\n');
        const { stdout } = await synapse(
          'send',
          '--name',
          'ada',
          '--target',
          'work/claude-7',
          '--wait-seconds',
          '0',
          'yours',
        );
        expect(stdout).toBe('');
        expect((await arm).stdout).toBe('ada: yours\n');
        const inbox = await until(
          'the message in the inbox',
          () => syn('inbox'),
          ({ stdout: shown }) => shown !== '',
          30_000,
        );
        expect(inbox.stdout).toMatch(/ ada -> work\/claude-7 \(chat\): yours\n$/);
        expect((await syn('inbox')).stdout).toBe('');
      },
      SLOW_MS,
    );

    test(
      '[SY1] [SY12] lock runs a command, state and board are printed, and a text is a text',
      async () => {
        const [locked, board, state] = await Promise.all([
          synapse('lock', '--name', 'bob', 'deploy', '--', 'echo', 'done'),
          synapse('board', '--name', 'b1'),
          synapse('state', '--name', 'b2'),
          synapse('send', '--name', 'ada', '--wait-seconds', '0', 'a text'),
        ]);
        expect(locked.stdout).toContain('done');
        expect(board.stdout + state.stdout).not.toMatch(/error|traceback/i);
        const { messages } = await hub.admin('replay', { channel: 'synapse/chat' });
        expect(messages.at(-1)).toMatchObject({ sender: 'ada', body: { text: 'a text' } });
      },
      SLOW_MS,
    );
  },
);
