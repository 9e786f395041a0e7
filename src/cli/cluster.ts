/** `synod cluster …`: the servers that share a store. */
import type { Command } from 'commander';
import type { CallOutput } from '../client/operations.ts';
import { registerServers } from './cluster-servers.ts';
import { handle } from './context.ts';
import { ageText } from './message-text.ts';
import { columns } from './terminal.ts';

type Status = CallOutput<'cluster.status'>;

export function registerCluster(program: Command): void {
  const cluster = program.command('cluster').description('the servers that share the store');
  registerServers(cluster);
  const status = cluster
    .command('status')
    .description('who is there, who sequences each space, and how far each has come');
  registerDrain(cluster);
  handle(status, async ({ call, show, colours }) => {
    const first = await call('cluster.status', {});
    const spaces = [...first.spaces];
    let { next } = first;
    while (next !== null) {
      const page = await call('cluster.status', { after: next });
      spaces.push(...page.spaces);
      next = page.next;
    }
    const told = { ...first, spaces, next };
    show(told, () => [
      `store  ${storeText(told)}`,
      '',
      ...columns(serverRows(told)).map((line, i) => (i === 0 ? colours.dim(line) : line)),
      '',
      ...columns(spaceRows(told)).map((line, i) => (i === 0 ? colours.dim(line) : line)),
    ]);
  });
}

/** `synod drain` and `synod cluster drain` are one. */
export function registerDrain(program: Command): void {
  const drain = program
    .command('drain')
    .description('hand over every space this server sequences and take none, before it is stopped')
    .option('--undo', 'take spaces again');
  handle<{ undo?: boolean }>(drain, async ({ flags, call, say, remark }) => {
    const undo = flags.undo === true;
    let told = await call('cluster.drain', { undo });
    while (!undo && told.left > 0) {
      remark(`${told.left} spaces are left`);
      told = await call('cluster.drain', {});
    }
    // A hub of before keeps nothing, and says nothing of it.
    const { server, kept = [] } = told as Partial<typeof told>;
    if (kept.length > 0) {
      const why =
        'no other server that is there may serve them: start one that may, or these stop with it';
      say(told, `${server} keeps ${kept.join(', ')}; ${why}`);
      return;
    }
    const line = undo
      ? `${server} takes spaces again`
      : `${server} is empty: it sequences nothing, and can be stopped`;
    say(told, line);
  });
}

function storeText({ store }: Status): string {
  const copies = store.replicas === 1 ? 'one copy' : `${store.replicas} copies`;
  const sync =
    store.synced === null
      ? 'written to the disk at some time'
      : store.synced
        ? 'on the disk before it is acknowledged'
        : 'acknowledged before it is on the disk';
  const risk = store.strict ? '' : '; RELAXED: a machine that loses power may lose entries';
  return `${store.address}, ${copies} in ${store.storage === 'file' ? 'files' : 'memory'}, ${sync}${risk}`;
}

function serverRows({ server, servers }: Status): string[][] {
  return [
    ['SERVER', 'STATE', 'SEQUENCES', 'BEHIND', 'VERSION', 'UP', 'AT'],
    ...servers.map((one) => [
      one.name === server ? `${one.name} (this)` : one.name,
      one.state === 'gone' ? `GONE ${ageText(one.heard_s)}` : one.state,
      `${one.sequences} of ${one.spaces}`,
      one.lag === 0 ? '-' : String(one.lag),
      one.version,
      one.state === 'gone' ? '-' : ageText(Math.max(0, Date.now() / 1000 - one.since)),
      one.url ?? '-',
    ]),
  ];
}

function spaceRows({ spaces }: Status): string[][] {
  return [
    ['SPACE', 'SEQUENCER', 'CHANGES', 'POSITIONS'],
    ...spaces.map(({ space, sequencer, changes, positions }) => [
      space,
      sequencer ?? 'NOBODY',
      String(changes),
      positions
        .map(({ server, position, lag }) =>
          lag === 0 ? `${server} ${position}` : `${server} ${position} (${lag} behind)`,
        )
        .join(', '),
    ]),
  ];
}
