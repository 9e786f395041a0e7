/**
 * `npm run cluster`, followed to the letter: three servers on three NATS nodes, agents at different ones, and what
 * happens to them when processes are killed; the commands are those that it prints.
 */
import { existsSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { openHome, type Running } from '../e2e/cli-run.ts';
import { until } from '../e2e/deadline.ts';
import { NO_NATS } from './server.ts';

const SCRIPT = 'test/cluster/run.ts';

interface Tried {
  readonly running: Running;
  /** Of each server, and of each node. */
  readonly pids: { readonly servers: readonly number[]; readonly nodes: readonly number[] };
  readonly dir: string;
  /** What to type, as it is printed, without the program's name. */
  readonly commands: readonly (readonly string[])[];
}

async function begin(home: ReturnType<typeof openHome>): Promise<Tried> {
  const running = home.start([], { bin: SCRIPT, cwd: process.cwd() });
  const [text] = await running.printed(/^three servers share[\s\S]*Ctrl-C stops all of it$/m);
  const all = (pattern: RegExp): string[] =>
    [...text.matchAll(pattern)].map(([, one]) => one ?? '');
  const commands = all(/^ {2}(?:\w+ .* {2})?synod (.*)$/gm);
  return {
    running,
    pids: {
      servers: all(/^ {2}\w+ +http\S+ {2}process (\d+)/gm).map(Number),
      nodes: all(/a node of NATS .* process (\d+)/g).map(Number),
    },
    dir: /--dir (\S+)\/one /.exec(text)?.[1] ?? '',
    commands: commands.map((one) =>
      [...one.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? ''),
    ),
  };
}

test.skipIf(NO_NATS !== null)(
  `[SQ1] [SQ2] agents at servers to be tried out talk and claim, whatever is killed ${NO_NATS ?? ''}`,
  async () => {
    const home = openHome();
    onTestFinished(() => home.close());
    const { running, pids, dir, commands } = await begin(home);
    onTestFinished(async () => {
      running.child.kill('SIGINT');
      await running.exited();
    });
    expect([pids.servers.length, pids.nodes.length, commands.length]).toEqual([3, 3, 7]);
    const shown: string[] = [];
    for (const command of commands) shown.push(await home.said(...command));
    expect(shown.at(-2)).toContain('bob: Who takes the parser?');
    expect(shown.at(-1)).toContain('alive');

    const at = (name: string, ...words: string[]): string[] => [
      '--dir',
      `${dir}/${name}`,
      ...words,
    ];
    await home.said(...at('one', 'claim', 'parser', 'src/parser.ts', '--as', 'ada'));
    const { servers } = (await home.json(at('one', 'cluster', 'status'))) as {
      servers: { name: string; sequences: number }[];
    };
    const names = ['one', 'two', 'three'];
    const first = servers.find(({ sequences }) => sequences > 0)?.name ?? '';
    const [left = '', right = ''] = names.filter((name) => name !== first);
    // The one that decides, and then a node: nobody is asked to do anything but to say it again.
    process.kill(pids.servers[names.indexOf(first)] as number, 'SIGKILL');
    const say = async (name: string, text: string): Promise<void> => {
      const words = at(name, 'send', 'team/plan', text, '--as', 'bob', '--idempotency-key', text);
      await until(
        `${name} takes ${text}`,
        () => home.run(words),
        ({ code }) => code === 0,
      );
    };
    await say(left, 'the server is gone');
    process.kill(pids.nodes[0] as number, 'SIGKILL');
    await say(right, 'a node is gone');
    const heard = await home.said(...at(right, 'recv', '--as', 'ada'));
    expect(heard).toMatch(/the server is gone[\s\S]*a node is gone/);
    expect(heard.match(/is gone/g)).toHaveLength(2);
    const refused = await home.refused(...at(left, 'claim', 'p', 'src/parser.ts', '--as', 'bob'));
    expect(refused.text).toContain('by ada as parser');

    running.child.kill('SIGINT');
    expect(await running.exited()).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(dir)).toBe(false);
    const isThere = (pid: number): boolean => existsSync(`/proc/${pid}`);
    expect([...pids.servers, ...pids.nodes].filter(isThere)).toEqual([]);
  },
  180_000,
);
