/** The line above every room: which space, who is here, what waits, and how the record stands. Says quietly when the hub is away. */
import type { ReactNode } from 'react';
import { Words } from '../parts/words.tsx';
import { useCell } from '../store/cell.ts';
import { hrefOf } from '../store/route.ts';
import { useAsk, useStore } from '../store/use-store.ts';

const HERE: ReadonlySet<string> = new Set(['connected', 'idle', 'busy', 'blocked']);

export function TopLine(): ReactNode {
  const { link } = useStore();
  const { state } = useCell(link);
  const { value: me } = useAsk('hub.whoami', {}, []);
  return (
    <header className="top">
      <a className="top-name" href={hrefOf('needs')}>
        synod
      </a>
      {me !== undefined && (
        <span className="quiet clip">
          · <Words text={me.space} />
        </span>
      )}
      <span className="top-gap" />
      {state === 'open' ? <Standing /> : <Away state={state} />}
    </header>
  );
}

function Standing(): ReactNode {
  const { value: presence } = useAsk('presence.list', { limit: 500 }, ['agents']);
  const { value: docket } = useAsk('docket.list', { limit: 100 }, ['docket']);
  const { value: record } = useAsk('record.head', {}, ['record']);
  const here = presence?.agents.filter(({ state }) => HERE.has(state)).length;
  return (
    <span className="top-standing">
      {here !== undefined && (
        <a href={hrefOf('agents')}>{`${here}${presence?.next === null ? '' : '+'} here`}</a>
      )}
      {docket !== undefined && (
        <a href={hrefOf('needs')}>
          {docket.open} {docket.open === 1 ? 'needs' : 'need'} you
        </a>
      )}
      {record !== undefined && (
        <a href={hrefOf('record')}>
          {record.verified?.ok === false ? (
            <span className="broken">{`chain broken at ${record.verified.through}`}</span>
          ) : (
            `chain ${record.verified === null ? '' : '✓ '}${record.length.toLocaleString('en')}`
          )}
        </a>
      )}
    </span>
  );
}

function Away({ state }: { readonly state: string }): ReactNode {
  return (
    <span className="top-away" role="status">
      {state === 'connecting' ? 'connecting…' : 'the hub is away; trying again'}
    </span>
  );
}
