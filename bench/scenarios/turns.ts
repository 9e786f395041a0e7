/**
 * Managed agents: how soon a runner runs after a message, what idle agents cost, how many turns a second
 * the hub runs, and what they cost those who only send.
 *
 * The start is measured beside a bare spawn of the same program, by the clock of the program itself.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { runLoad } from '../load.ts';
import { percentiles } from '../percentiles.ts';
import { type Measure, type Scenario, type Sides, takeTurns } from '../scenario.ts';
import { createScratch, openServer, type Server } from '../server.ts';

const AGENTS = 1_000;
const LIMITS = {
  ...{ turns_per_10_min: 10_000, turns_per_day: 100_000, turns_per_message: 100 },
  ...{ repeats_per_30_min: 1_000, duplicates: 8 },
};
/** Says when it ran, reads what it is given, and is done. */
const PROGRAM = `date +%s%N > "$1"; cat > /dev/null; echo '{"outcome":"done"}'\n`;

interface Hub extends Server {
  readonly dir: string;
  ask(operation: string, input: object, agent?: string): Promise<Record<string, unknown>>;
  dispose(): Promise<void>;
}

async function openHub(isInspected = false): Promise<Hub> {
  const dir = await createScratch();
  const server = await openServer('hub', { dir, isInspected });
  const token = (await readFile(join(dir, 'credential'), 'utf8')).trim();
  return {
    ...server,
    dir,
    async ask(operation, input, agent) {
      const as = agent === undefined ? { 'x-synod-owner': '1' } : { 'x-sox-agent-id': agent };
      const response = await fetch(`${server.url}/v1/ops/${operation}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...as },
        body: JSON.stringify(input),
      });
      const answer = (await response.json()) as Record<string, unknown>;
      if (!response.ok) throw new Error(`${operation}: ${JSON.stringify(answer)}`);
      return answer;
    },
    async dispose() {
      await server.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function manage(hub: Hub, agent: string, runner: object): Promise<void> {
  await hub.ask('subscribe', { pattern: `own/${agent}` }, agent);
  await hub.ask('agents_manage', { agent_id: agent, runner, limits: LIMITS });
}

async function manageMany(hub: Hub, from: number, to: number): Promise<void> {
  const runner = { kind: 'rule', rules: [{ pattern: 'go', answer: '' }] };
  for (let i = from; i < to; i++) await manage(hub, `m${i}`, runner);
}

/** Milliseconds from `from` until the program wrote its clock. */
async function ranAfter(file: string, from: number): Promise<number> {
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text.endsWith('\n')) return Number(BigInt(text.trim()) / 1_000n) / 1_000 - from;
    await pause(2);
  }
}

const now = (): number => performance.timeOrigin + performance.now();

async function spawnBare(script: string, file: string): Promise<number> {
  const from = now();
  const child = spawn('/bin/sh', [script, file], { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.end('{}\n');
  const ms = await ranAfter(file, from);
  if (child.exitCode === null) await once(child, 'exit');
  return ms;
}

export const turnStart: Scenario = {
  name: 'turn-start',
  async run(setting): Promise<Measure[]> {
    if (!setting.hasHub) return [];
    const hub = await openHub();
    const script = join(hub.dir, 'program.sh');
    const file = join(hub.dir, 'ran');
    const turns = setting.isQuick ? 5 : 30;
    try {
      await writeFile(script, PROGRAM);
      await manage(hub, 'runs', { kind: 'command', command: ['/bin/sh', script, file] });
      const figures = await takeTurns(setting.rounds, {
        hub: async () => {
          const bare: number[] = [];
          const ours: number[] = [];
          for (let i = 0; i < turns; i++) {
            await rm(file, { force: true });
            bare.push(await spawnBare(script, file));
            await rm(file, { force: true });
            const from = now();
            await hub.ask('send', { channel: 'own/runs', body: { i } }, 'load');
            ours.push(await ranAfter(file, from));
            await quiet(hub);
          }
          return { above: percentiles(ours).p50 - percentiles(bare).p50 };
        },
      });
      return [
        {
          what: 'message sent → runner started, above a bare spawn, p50',
          unit: 'ms',
          sides: figures('above'),
          goal: { atMost: 50 },
        },
      ];
    } finally {
      await hub.dispose();
    }
  },
};

/** Waits until no turn is due or runs. */
async function quiet(hub: Hub): Promise<void> {
  for (;;) {
    const open = await Promise.all(
      ['waking', 'busy'].map((state) => hub.ask('turns_list', { state, limit: 1 })),
    );
    if (open.every(({ turns }) => (turns as unknown[]).length === 0)) return;
    await pause(5);
  }
}

export const turnRate: Scenario = {
  name: 'turn-rate',
  async run(setting): Promise<Measure[]> {
    if (!setting.hasHub) return [];
    const agents = setting.isQuick ? 50 : 500;
    const hub = await openHub();
    try {
      await hub.ask('spaces_configure', { turns_parallel_max: 20 });
      await manageMany(hub, 0, agents);
      const figures = await takeTurns(setting.rounds, {
        hub: async () => {
          const from = now();
          const sends = Array.from({ length: agents }, (_, i) =>
            hub.ask('send', { channel: `own/m${i}`, body: { text: 'go' } }, 'load'),
          );
          await Promise.all(sends);
          await pause(100);
          await quiet(hub);
          return { perSecond: (1_000 * agents) / (now() - from) };
        },
      });
      return [
        {
          what: `turns of the runner rule, ${agents} agents due at once`,
          unit: '/s',
          sides: figures('perSecond'),
          goal: { atLeast: 100 },
        },
      ];
    } finally {
      await hub.dispose();
    }
  },
};

export const turnIdle: Scenario = {
  name: 'turn-idle',
  async run(setting): Promise<Measure[]> {
    if (!setting.hasHub) return [];
    const agents = setting.isQuick ? 200 : AGENTS;
    const hub = await openHub(true);
    const none = await openHub();
    try {
      await manageMany(hub, 0, 100);
      const before = await hub.readMemory();
      await manageMany(hub, 100, 100 + agents);
      const after = await hub.readMemory();
      await pause(1_000);
      const idle = async (one: Hub) => ({ cpu: await cpuMs(one, setting.isQuick ? 500 : 5_000) });
      const figures = await takeTurns(setting.rounds, {
        hub: () => idle(hub),
        none: () => idle(none),
      });
      const heap = (after.heap - before.heap) / agents / 1024;
      return [
        {
          what: 'memory of an idle managed agent, heap',
          unit: 'KB',
          sides: { hub: [heap] },
          goal: { atMost: 40 },
        },
        {
          what: `processor time of ${agents} idle managed agents in 5 s (none: no agents)`,
          unit: 'ms',
          sides: figures('cpu'),
        },
      ];
    } finally {
      await Promise.all([hub.dispose(), none.dispose()]);
    }
  },
};

/** Processor time of the hub while nothing happens, from the system's own count. */
async function cpuMs({ dir }: Hub, forMs: number): Promise<number> {
  const { pid } = JSON.parse(await readFile(join(dir, 'hub.json'), 'utf8')) as { pid: number };
  const read = async (): Promise<number> => {
    const text = await readFile(`/proc/${pid}/schedstat`, 'utf8');
    return Number(text.split(' ')[0]) / 1e6;
  };
  const before = await read();
  await pause(forMs);
  return (await read()) - before;
}

export const turnSends: Scenario = {
  name: 'turn-sends',
  async run(setting): Promise<Measure[]> {
    if (!setting.hasHub) return [];
    const hub = await openHub();
    const none = await openHub();
    try {
      await manageMany(hub, 0, setting.isQuick ? 100 : AGENTS);
      const shape = { senders: 10, listeners: 0, window: setting.window, warmMs: 500 };
      const flood = (url: string) => async () => ({
        ...(await runLoad({ kind: 'flood', url, ...shape, measureMs: setting.measureMs })),
      });
      const sides: Sides = { hub: flood(hub.url), none: flood(none.url) };
      const figures = await takeTurns(setting.rounds, sides);
      return [
        {
          what: 'durable sends with 1,000 managed agents elsewhere, 10 senders',
          unit: '/s',
          sides: figures('sendsPerSecond'),
          goal: { against: 'none', atLeast: 0.9 },
        },
      ];
    } finally {
      await Promise.all([hub.dispose(), none.dispose()]);
    }
  },
};
