/**
 * What is remembered of a message for each of several agents: what became of it, who replied. The bound is
 * on all that is remembered, not on the messages, because one message may have as many as there are agents.
 * Those who have the most give up their oldest [SH4].
 */
import { type Codec, Runs } from '../law/fields.ts';
import { levelAfter, quotas } from '../law/make-room.ts';
import { count } from '../law/shares.ts';

const RUN = 128;

export class ByMessage<V> {
  /** In the order in which the messages were first remembered. */
  readonly #messages = new Map<number, Map<string, V>>();
  #size = 0;

  /** Of all messages together. */
  get size(): number {
    return this.#size;
  }

  has(position: number): boolean {
    return this.#messages.has(position);
  }

  /** By agent. */
  get(position: number): ReadonlyMap<string, V> | undefined {
    return this.#messages.get(position);
  }

  /** Those remembered first come first. */
  [Symbol.iterator](): Iterator<[number, ReadonlyMap<string, V>]> {
    return this.#messages.entries();
  }

  set(position: number, agent: string, value: V): void {
    const agents = this.#messages.get(position);
    if (agents === undefined) this.#messages.set(position, new Map([[agent, value]]));
    else {
      if (agents.has(agent)) this.#size--;
      agents.set(agent, value);
    }
    this.#size++;
  }

  delete(position: number, agent: string): void {
    const agents = this.#messages.get(position);
    if (agents === undefined || !agents.delete(agent)) return;
    if (agents.size === 0) this.#messages.delete(position);
    this.#size--;
  }

  /** Returns what was given up: the position behind the newest of each agent. */
  makeRoom(max: number): ReadonlyMap<string, number> {
    const behind = new Map<string, number>();
    if (this.#size <= max) return behind;
    const counts = new Map<string, number>();
    for (const agents of this.#messages.values()) {
      for (const agent of agents.keys()) count(counts, agent, 1);
    }
    const left = quotas(counts, max);
    for (const [position, agents] of this.#messages) {
      for (const agent of agents.keys()) {
        if (this.#size <= levelAfter(max)) return behind;
        if (!left.has(agent)) continue;
        this.delete(position, agent);
        count(left, agent, -1);
        behind.set(agent, Math.max(behind.get(agent) ?? 0, position + 1));
      }
    }
    return behind;
  }

  static codec<V>(agents: Codec<Map<string, V>>): Codec<ByMessage<V>> {
    return {
      freeze(memory) {
        const rows = Array.from(
          memory.#messages,
          ([position, of]) => [position, agents.freeze(of)] as const,
        );
        return new Runs(function* () {
          for (let start = 0; start < rows.length; start += RUN) {
            yield rows.slice(start, start + RUN).flat();
          }
        });
      },
      thaw(frozen) {
        const memory = new ByMessage<V>();
        const list = frozen as unknown[];
        for (let i = 0; i < list.length; i += 2) {
          const of = agents.thaw(list[i + 1]);
          memory.#messages.set(list[i] as number, of);
          memory.#size += of.size;
        }
        return memory;
      },
    };
  }
}
