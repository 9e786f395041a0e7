/** `synod status`: is a hub running, where, and how is it. Exits 69 when none is. */
import type { Command } from 'commander';
import { findHub } from '../client/node/start-hub.ts';
import { dataDirectory, type Globals } from '../client/node/target.ts';
import type { CallOutput } from '../client/operations.ts';
import { handle } from './context.ts';
import { EXITS } from './failure.ts';
import { ageText } from './message-text.ts';
import { columns } from './terminal.ts';

export function registerStatus(program: Command): void {
  const command = program.command('status').description('is a hub running, where, and how is it');
  handle<Globals>(command, async ({ flags, call, show }) => {
    const dir = dataDirectory(flags.dir, process.env);
    const isElsewhere = flags.url !== undefined || Boolean(process.env.SYNOD_URL);
    const hub = isElsewhere ? null : await findHub(dir);
    if (!isElsewhere && hub === null) {
      show({ running: false, dir }, () => [`no hub runs from ${dir}; start one with: synod up`]);
      process.exitCode = EXITS['hub.unreachable'];
      return;
    }
    const status = await call('hub.status', {});
    const url = hub?.url ?? flags.url ?? process.env.SYNOD_URL ?? '';
    const place = hub === null ? { url } : { ...hub, dir };
    show({ running: true, ...place, ...status }, () => statusLines(place, status));
  });
}

interface HubPlace {
  readonly url: string;
  readonly pid?: number;
  readonly dir?: string;
  readonly socket?: string | null;
  readonly synapse?: string | null;
}

function statusLines(place: HubPlace, status: CallOutput<'hub.status'>): string[] {
  const { url, pid, dir, socket, synapse } = place;
  const { version, uptime_s: uptime, store_ok: isStoreOk, space, plugins } = status;
  // An id has a dot; the hub's own steps, which every hub has, have none.
  const added = plugins.filter((id) => id.includes('.'));
  return columns([
    ['running', `${url}${pid === undefined ? '' : ` (process ${pid})`}`],
    ...(dir === undefined ? [] : [['kept in', dir]]),
    ...(socket ? [['socket', socket]] : []),
    ...(synapse ? [['synapse', synapse]] : []),
    ['version', `${version}, up ${ageText(uptime)}`],
    ...(status.trouble === null ? [] : [['record', `BROKEN: ${status.trouble}`]]),
    ['store', isStoreOk ? 'ok' : 'FAILING: nothing is accepted; see the log'],
    [
      'space',
      `${space}: ${status.entries} entries, ${status.channels} channels, ${status.agents} agents`,
    ],
    ...(status.cluster === null ? [] : [['cluster', clusterText(status.cluster)]]),
    ['now', `${status.feeds} streams, ${status.queued} commands waiting`],
    ...(added.length === 0 ? [] : [['plugins', added.join(', ')]]),
  ]);
}

function clusterText({
  server,
  sequencer,
  changes,
}: NonNullable<CallOutput<'hub.status'>['cluster']>): string {
  const who =
    sequencer === null ? 'nobody sequences the space' : `${sequencer} sequences the space`;
  return `this is ${server}, ${who}, ${changes} ${changes === 1 ? 'change' : 'changes'} since it started`;
}
