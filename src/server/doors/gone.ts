/**
 * Tells whoever waits on a connection that it is gone: nothing may be handed out to it then. Every connection has one and
 * hardly any is asked for it, so that it is a tenth of an AbortController.
 */
import type { Signal } from '../../hub/watch.ts';

export class Gone implements Signal {
  #isGone = false;
  #listeners: Set<() => void> | null = null;

  get aborted(): boolean {
    return this.#isGone;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners?.delete(listener);
  }

  /** Each listener hears of it once. */
  abort(): void {
    this.#isGone = true;
    const told = this.#listeners;
    this.#listeners = null;
    for (const listener of told ?? []) listener();
  }
}
