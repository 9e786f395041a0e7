/** What everybody is doing now, on as few lines as it takes. */
import type { ReactNode } from 'react';
import { Ago } from '../../parts/ago.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Name, Words } from '../../parts/words.tsx';
import { hrefOf } from '../../store/route.ts';
import { useAsk } from '../../store/use-store.ts';
import { type Doing, everybody } from './doing.ts';

const SHOWN_MAX = 12;

export function EverybodyNow(): ReactNode {
  const { value: me } = useAsk('hub.whoami', {}, []);
  const { value: presence } = useAsk('presence.list', { limit: 500 }, ['agents']);
  const { value: held } = useAsk('claims.list', { limit: 500 }, ['claims']);
  if (presence === undefined || held === undefined) return null;
  const { working, quiet, gone } = everybody(presence.agents, held.claims, me?.agent_id);
  return (
    <section className="now" aria-label="What everybody is doing">
      <Group title="working" rows={working} />
      <Group title="quiet" rows={quiet} />
      {gone > 0 && (
        <p className="quiet now-gone">
          <a href={hrefOf('agents')}>{gone} more</a> were here and are gone
        </p>
      )}
      {working.length + quiet.length + gone === 0 && (
        <Empty title="No agent is here yet" command="synod install">
          This connects the coding agents of this machine; they appear here once they run.
        </Empty>
      )}
    </section>
  );
}

interface GroupProps {
  readonly title: string;
  readonly rows: readonly Doing[];
}

function Group({ title, rows }: GroupProps): ReactNode {
  if (rows.length === 0) return null;
  return (
    <div className="now-group">
      <h2>{title}</h2>
      <ul>
        {rows.slice(0, SHOWN_MAX).map(({ agent, state, what, since }) => (
          <li key={agent}>
            <a href={hrefOf('agents', agent)} className="clip">
              <Name of={agent} />
            </a>
            <span className="clip">{what === null ? state : <Words text={what} />}</span>
            <span className="quiet">{state === 'blocked' ? 'waits for a person' : ''}</span>
            <span className="quiet item-age">{since !== null && <Ago at={since} />}</span>
          </li>
        ))}
      </ul>
      {rows.length > SHOWN_MAX && (
        <a className="now-more" href={hrefOf('agents')}>
          and {rows.length - SHOWN_MAX} more
        </a>
      )}
    </div>
  );
}
