/**
 * Checkpoints of LangGraph on sessions of the hub: one session a thread, one item a checkpoint or a set of
 * writes. The base class is handed in, so that the package is not needed here and its version is the
 * caller's.
 */
import type { HubCalls } from '../process/supervisor-options.ts';
import {
  type CheckpointRecord,
  openThreads,
  type Threads,
  type WritesRecord,
  writesOf,
} from './langgraph-threads.ts';
import { isFields } from './plain-items.ts';

interface Serde {
  dumpsTyped(value: unknown): Promise<[string, Uint8Array]>;
  loadsTyped(type: string, data: Uint8Array | string): Promise<unknown>;
}

/**
 * What of `BaseCheckpointSaver` is used here.
 *
 * @example
 * const isUsable = (saver: SaverBase): boolean => typeof saver.serde.dumpsTyped === 'function';
 */
export interface SaverBase {
  serde: Serde;
}

type Config = { readonly configurable?: Readonly<Record<string, unknown>> };
type SaverClass<Base> = new () => Base;

/**
 * A checkpointer that keeps the threads of a graph on the hub: another process resumes an interrupted
 * thread where it stopped.
 *
 * @example
 * import { BaseCheckpointSaver, StateGraph } from '@langchain/langgraph';
 * const Saver = langGraphSaver(BaseCheckpointSaver, hub);
 * const graph = new StateGraph(State).addNode('ask', ask).compile({ checkpointer: new Saver() });
 */
export function langGraphSaver<Base extends SaverBase>(
  base: abstract new () => Base,
  hub: HubCalls,
): SaverClass<Base> {
  // The compiler cannot see that an abstract class of another package is completed here.
  const Parent = base as unknown as new () => SaverBase;

  class Saver extends Parent {
    readonly #threads: Threads = openThreads(hub);

    async getTuple(config: Config): Promise<unknown> {
      const { thread, ns, id } = placeOf(config);
      if (thread === null) return undefined;
      const records = await this.#threads.read(thread);
      const all = checkpointsOf(records, ns ?? '');
      const found = id === null ? newestOf(all) : all.find((one) => one.id === id);
      return found === undefined ? undefined : this.#tuple(thread, found, records);
    }

    async *list(config: Config, options: ListOptions = {}): AsyncGenerator<unknown> {
      const { thread, ns, id } = placeOf(config);
      const before = options.before === undefined ? null : placeOf(options.before).id;
      let left = options.limit ?? Number.POSITIVE_INFINITY;
      const threads = thread === null ? await this.#threads.names() : [thread];
      for (const name of threads) {
        const records = await this.#threads.read(name);
        for (const one of checkpointsOf(records, ns).sort(byNewest)) {
          if (left <= 0) return;
          if ((id !== null && one.id !== id) || (before !== null && one.id >= before)) continue;
          const tuple = await this.#tuple(name, one, records);
          if (!doesMatch(tuple.metadata, options.filter)) continue;
          left--;
          yield tuple;
        }
      }
    }

    async put(config: Config, checkpoint: { readonly id: string }, metadata: unknown) {
      const { thread, ns, id: parent } = needed(config);
      const record: CheckpointRecord = {
        ...{ kind: 'checkpoint', ns: ns ?? '', id: checkpoint.id, parent },
        checkpoint: await this.#dump(checkpoint),
        metadata: await this.#dump(metadata),
      };
      await this.#threads.write(thread, record);
      return configOf(thread, record);
    }

    async putWrites(config: Config, writes: readonly [string, unknown][], task: string) {
      const { thread, ns, id } = needed(config);
      if (id === null)
        throw new TypeError('writes belong to a checkpoint: checkpoint_id is missing');
      const record: WritesRecord = {
        ...{ kind: 'writes', ns: ns ?? '', id, task },
        writes: await Promise.all(
          writes.map(async ([channel, value]) => ({ channel, value: await this.#dump(value) })),
        ),
      };
      await this.#threads.write(thread, record);
    }

    /** The session is closed: its items stay on the record, and the thread begins anew. */
    async deleteThread(thread: string): Promise<void> {
      await this.#threads.close(thread);
    }

    async #tuple(
      thread: string,
      record: CheckpointRecord,
      records: readonly (CheckpointRecord | WritesRecord)[],
    ) {
      const pendingWrites = await Promise.all(
        writesOf(records, record).map(async ({ task, channel, value }) => [
          ...[task, channel, await this.#load(value)],
        ]),
      );
      return {
        config: configOf(thread, record),
        checkpoint: await this.#load(record.checkpoint),
        metadata: await this.#load(record.metadata),
        pendingWrites,
        ...(record.parent !== null && {
          parentConfig: configOf(thread, { ns: record.ns, id: record.parent }),
        }),
      };
    }

    async #dump(value: unknown): Promise<[string, string]> {
      const [type, bytes] = await this.serde.dumpsTyped(value);
      return [type, Buffer.from(bytes).toString(type === 'json' ? 'utf8' : 'base64')];
    }

    #load([type, text]: readonly [string, string]): Promise<unknown> {
      return this.serde.loadsTyped(type, type === 'json' ? text : Buffer.from(text, 'base64'));
    }
  }
  return Saver as unknown as SaverClass<Base>;
}

interface ListOptions {
  readonly limit?: number;
  readonly before?: Config;
  readonly filter?: Readonly<Record<string, unknown>>;
}

function placeOf({ configurable = {} }: Config) {
  const { thread_id: thread, checkpoint_ns: ns, checkpoint_id: id } = configurable;
  return { thread: wordOf(thread), ns: typeof ns === 'string' ? ns : null, id: wordOf(id) };
}

function wordOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function needed(config: Config) {
  const { thread, ns, id } = placeOf(config);
  if (thread !== null) return { thread, ns, id };
  throw new TypeError('a checkpoint belongs to a thread: put a thread_id into configurable');
}

function configOf(thread: string, { ns, id }: { readonly ns: string; readonly id: string }) {
  return { configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id: id } };
}

/** Of one namespace; null is all. The newest that was put under an id counts. */
function checkpointsOf(
  records: readonly (CheckpointRecord | WritesRecord)[],
  ns: string | null,
): CheckpointRecord[] {
  const found = new Map<string, CheckpointRecord>();
  for (const one of records) {
    if (one.kind !== 'checkpoint' || (ns !== null && one.ns !== ns)) continue;
    found.set(JSON.stringify([one.ns, one.id]), one);
  }
  return [...found.values()];
}

/** Their ids grow with time. */
function byNewest(a: CheckpointRecord, b: CheckpointRecord): number {
  return a.id < b.id ? 1 : a.id > b.id ? -1 : 0;
}

function newestOf(all: readonly CheckpointRecord[]): CheckpointRecord | undefined {
  return [...all].sort(byNewest)[0];
}

function doesMatch(metadata: unknown, filter: ListOptions['filter'] = {}): boolean {
  const known = isFields(metadata) ? metadata : {};
  return Object.entries(filter).every(([name, value]) => known[name] === value);
}
