/**
 * The signals of a bus, as things to wait for: the first SIGTERM or SIGINT, the next one, and SIGHUP,
 * of which several in a row are one: while a reload runs at most one more waits.
 */

export interface BusSignals {
  readonly stop: Promise<string>;
  readonly again: Promise<string>;
  /** What SIGHUP does from now on, also one that came before; null: nothing. */
  reloadWith(call: (() => Promise<void>) | null): void;
  release(): void;
}

export function catchSignals(): BusSignals {
  const first = Promise.withResolvers<string>();
  const second = Promise.withResolvers<string>();
  let count = 0;
  let onReload: (() => Promise<void>) | null = null;
  let isReloading = false;
  let isAsked = false;

  const onStop = (signal: string): void => {
    count += 1;
    (count === 1 ? first : second).resolve(signal);
  };
  async function reload(): Promise<void> {
    if (isReloading) return;
    isReloading = true;
    while (isAsked && onReload !== null) {
      isAsked = false;
      await onReload();
    }
    isReloading = false;
  }
  const onHangUp = (): void => {
    isAsked = true;
    void reload();
  };
  process.on('SIGTERM', onStop).on('SIGINT', onStop).on('SIGHUP', onHangUp);

  return {
    stop: first.promise,
    again: second.promise,
    reloadWith(call) {
      onReload = call;
      void reload();
    },
    release() {
      process.off('SIGTERM', onStop).off('SIGINT', onStop).off('SIGHUP', onHangUp);
    },
  };
}
