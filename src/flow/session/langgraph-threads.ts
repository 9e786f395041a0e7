/**
 * Threads of LangGraph as sessions of the hub, with what was read of them kept here: a read asks for what
 * came since, and reads anew when something was cut off meanwhile.
 */
import type { HubCalls } from '../process/supervisor-options.ts';
import { ownData } from './plain-items.ts';

/** Type and text of a value, as the serializer of LangGraph made it. */
type Stored = readonly [type: string, text: string];

export interface CheckpointRecord {
  readonly kind: 'checkpoint';
  readonly ns: string;
  readonly id: string;
  readonly parent: string | null;
  readonly checkpoint: Stored;
  readonly metadata: Stored;
}

export interface WritesRecord {
  readonly kind: 'writes';
  readonly ns: string;
  /** Of the checkpoint that they belong to. */
  readonly id: string;
  readonly task: string;
  readonly writes: readonly { readonly channel: string; readonly value: Stored }[];
}

type ThreadRecord = CheckpointRecord | WritesRecord;

export interface Threads {
  read(thread: string): Promise<readonly ThreadRecord[]>;
  write(thread: string, record: ThreadRecord): Promise<void>;
  close(thread: string): Promise<void>;
  /** Of all threads there are. */
  names(): Promise<string[]>;
}

const MAKER = 'langgraph';
const PREFIX = 'langgraph:';
/** Writes to these channels are of one kind, whatever their place: the newest counts. */
const SPECIAL: Readonly<Record<string, number>> = {
  __error__: -1,
  __scheduled__: -2,
  __interrupt__: -3,
  __resume__: -4,
};

interface Mirror {
  readonly id: string;
  cuts: number;
  length: number;
  records: ThreadRecord[];
}

export function openThreads(hub: HubCalls): Threads {
  const mirrors = new Map<string, Mirror>();
  let asked: Promise<string> | null = null;

  function whoAmI(): Promise<string> {
    asked ??= hub.call('hub.whoami').then(({ agent_id }) => agent_id);
    return asked;
  }

  async function find(thread: string): Promise<Mirror | null> {
    const known = mirrors.get(thread);
    if (known !== undefined) return known;
    const { sessions } = await hub.call('sessions.list', { key: `${PREFIX}${thread}` });
    const mine = await whoAmI();
    // People see those of others too, and keys are each creator's own.
    const first = sessions.find((one) => one.created_by === mine);
    return first === undefined ? null : keep(thread, first.session_id);
  }

  function keep(thread: string, id: string): Mirror {
    const mirror: Mirror = { id, cuts: 0, length: 0, records: [] };
    mirrors.set(thread, mirror);
    return mirror;
  }

  async function read(thread: string): Promise<readonly ThreadRecord[]> {
    const mirror = await find(thread);
    if (mirror === null) return [];
    for (;;) {
      const { session, items, next } = await hub.call('sessions.get', {
        ...{ session_id: mirror.id, from: mirror.length, limit: 500 },
      });
      if (session.state === 'closed' || session.state === 'lapsed') {
        mirrors.delete(thread);
        return read(thread);
      }
      if (session.cuts !== mirror.cuts) {
        // What was read before may be gone: all of it again.
        Object.assign(mirror, { cuts: session.cuts, length: 0, records: [] });
        continue;
      }
      for (const item of items) {
        const record = ownData(item, MAKER);
        if (record !== null) mirror.records.push(record as unknown as ThreadRecord);
        mirror.length++;
      }
      if (next === null) return mirror.records;
    }
  }

  return {
    read,
    async write(thread, record) {
      const mirror = (await find(thread)) ?? keep(thread, await create(hub, thread));
      const content = `${record.kind} ${record.id}`;
      const item = { kind: 'note', content, data: { [MAKER]: { ...record } } } as const;
      await hub.call('sessions.append', { session_id: mirror.id, items: [item] });
    },
    async close(thread) {
      const mirror = await find(thread);
      mirrors.delete(thread);
      if (mirror !== null) await hub.call('sessions.close', { session_id: mirror.id });
    },
    async names() {
      const names: string[] = [];
      const mine = await whoAmI();
      for (let after: string | null | undefined; after !== null; ) {
        const page: Awaited<ReturnType<typeof list>> = await list(hub, after);
        for (const { key, created_by } of page.sessions) {
          if (created_by === mine && key?.startsWith(PREFIX)) names.push(key.slice(PREFIX.length));
        }
        after = page.next;
      }
      return names;
    },
  };
}

function list(hub: HubCalls, after: string | undefined) {
  return hub.call('sessions.list', { limit: 500, ...(after !== undefined && { after }) });
}

async function create(hub: HubCalls, thread: string): Promise<string> {
  const { session_id } = await hub.call('sessions.create', { key: `${PREFIX}${thread}` });
  return session_id;
}

/** Writes of a checkpoint. Said again, the first stays; of a special kind the newest counts. */
export function writesOf(
  records: readonly ThreadRecord[],
  { ns, id }: CheckpointRecord,
): { task: string; channel: string; value: Stored }[] {
  const found = new Map<string, { task: string; channel: string; value: Stored }>();
  for (const one of records) {
    if (one.kind !== 'writes' || one.ns !== ns || one.id !== id) continue;
    const known = new Set(found.keys());
    for (const [i, { channel, value }] of one.writes.entries()) {
      const place = SPECIAL[channel] ?? i;
      const name = JSON.stringify([one.task, place]);
      if (place < 0 || !known.has(name)) found.set(name, { task: one.task, channel, value });
    }
  }
  return [...found.values()];
}
