/** The hub's vitals while they are looked at: asked for now, and then only what is new, as often as it is measured. */
import { useEffect, useState } from 'react';
import type { CallOutput } from '../../../client/index.ts';
import { useStore } from '../../store/use-store.ts';

export type Vitals = CallOutput<'hub.vitals'>;

const SAMPLES_SHOWN = 120;
const RETRY_MS = 5_000;

export function useVitals(): { readonly vitals: Vitals | null; readonly problem: string | null } {
  const { client } = useStore();
  const [vitals, setVitals] = useState<Vitals | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    let known: Vitals | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      const since = known?.samples.at(-1)?.at;
      // A page in the background asks for nothing; what it missed comes with the next answer.
      if (document.visibilityState === 'visible') {
        const told = await client.call('hub.vitals', { since }, { signal: stop.signal });
        known = {
          ...told,
          samples: [...(known?.samples ?? []), ...told.samples].slice(-SAMPLES_SHOWN),
        };
        setVitals(known);
        setProblem(null);
      }
    };
    const again = (): void => {
      look()
        .catch((error: Error) => setProblem(error.message))
        .finally(() => {
          if (!stop.signal.aborted) timer = setTimeout(again, known?.beat_ms || RETRY_MS);
        });
    };
    again();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [client]);
  return { vitals, problem };
}
