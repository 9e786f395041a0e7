/**
 * A whole command, from the start of its process to its end: `synod send` to a hub that runs, beside
 * the least that Node does. Where the machine's own Node is an older one, also as a person types it: the
 * executable, which runs with the Node that was installed with it.
 */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { median } from '../percentiles.ts';
import { childrenBusyMs } from '../process.ts';
import { type Measure, type Scenario, type Sides, takeTurns } from '../scenario.ts';
import { createScratch, HUB_ROOT, openServer } from '../server.ts';

const run = promisify(execFile);
const RUNS = 7;
const NEEDED = 24;

export const commands: Scenario = {
  name: 'commands',
  isPeer: true,
  async run(setting): Promise<Measure[]> {
    if (!setting.hasHub) return [];
    const dir = await createScratch();
    const server = await openServer('hub', { dir });
    const env = { ...process.env, SYNOD_DIR: dir };
    const args = ['send', 'bench/plan', 'hello', '--as', 'ada'];
    const send = [join(HUB_ROOT, 'bin/synod.js'), ...args];
    const old = oldNode();
    try {
      const sides: Sides = {
        'node -e 0': () => time(process.execPath, ['-e', '0'], env),
        hub: () => time(process.execPath, send, env),
      };
      if (old !== null) sides['hub by an older Node'] = () => time(typed(), args, by(old, env));
      const figures = await takeTurns(setting.rounds, sides);
      const what = '`synod send`, the whole command';
      const against = 'node -e 0';
      return [
        { what, unit: 'ms', sides: figures('ms'), goal: { against, atMost: 1.6 } },
        ...(old === null
          ? []
          : [
              {
                what: `${what}, by way of an older Node`,
                unit: 'ms',
                sides: {
                  hub: figures('ms')['hub by an older Node'] ?? [],
                  [against]: figures('ms')[against] ?? [],
                },
                goal: { against, atMost: 3 },
              },
            ]),
        { what: `${what}: processor time`, unit: 'ms', sides: figures('busyMs') },
      ];
    } finally {
      await server.close();
    }
  },
};

/** Older versions had one file for it. */
function typed(): string {
  const program = join(HUB_ROOT, 'bin/synod');
  return existsSync(program) ? program : `${program}.js`;
}

function by(node: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, PATH: `${dirname(node)}${delimiter}${env.PATH}` };
}

async function time(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ ms: number; busyMs: number }> {
  const takenMs: number[] = [];
  const busy = childrenBusyMs();
  for (let n = 0; n < RUNS; n++) {
    const from = performance.now();
    await run(program, [...args], { env });
    takenMs.push(performance.now() - from);
  }
  return { ms: median(takenMs), busyMs: (childrenBusyMs() - busy) / RUNS };
}

/** The first Node on the path that is not the one that npm puts there, when it is an older one. */
function oldNode(): string | null {
  const places = (process.env.PATH ?? '').split(delimiter);
  for (const place of places.filter((one) => !one.includes('node_modules'))) {
    const node = join(place, 'node');
    try {
      const version = execFileSync(node, ['--version'], { encoding: 'utf8', stdio: 'pipe' });
      if (Number(/\d+/.exec(version)?.[0]) < NEEDED) return node;
    } catch {
      // None there.
    }
  }
  return null;
}
