/** What is held, on a tree of files, and who waits for whom: in the queue for claims, and for answers. */
import type { ReactNode } from 'react';
import { Ago, useNow } from '../../parts/ago.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Shown } from '../../parts/shown.tsx';
import { Code, Name, Words } from '../../parts/words.tsx';
import { hrefOf } from '../../store/route.ts';
import { useAsk } from '../../store/use-store.ts';
import { type Claim, claimsTree, type Place, type Worktree } from './claims-tree.ts';
import { leftText } from './lease.ts';

const ROWS_MAX = 500;

export function Claims({ chosen }: { readonly chosen: string | null }): ReactNode {
  const held = useAsk('claims.list', { limit: ROWS_MAX }, ['claims']);
  return (
    <Shown asked={held}>
      {({ claims, waits, next }) => (
        <div className="claims">
          {claims.length === 0 && (
            <Empty title="Nothing is held" command="synod claim TASK --paths src/**">
              An agent that claims files keeps the others off them until it releases them.
            </Empty>
          )}
          {claimsTree(claims).map((worktree) => (
            <Tree key={worktree.label} {...{ worktree, chosen }} />
          ))}
          {next !== null && <p className="quiet">These are the first {ROWS_MAX} claims by name.</p>}
          <Queue waits={waits} />
          <Answers />
        </div>
      )}
    </Shown>
  );
}

interface TreeProps {
  readonly worktree: Worktree;
  readonly chosen: string | null;
}

function Tree({ worktree: { label, claims, places, left }, chosen }: TreeProps): ReactNode {
  return (
    <section className="tree" aria-label={label === '' ? 'Work without files' : label}>
      <h2>
        {label === '' ? 'Work without files' : <Code text={label} />}
        {label === '/' && <span className="quiet"> outside any repository</span>}
        {label !== '' && claims.length > 0 && <span className="quiet"> all of it</span>}
      </h2>
      {claims.map((claim) => (
        <Holder key={claim.task_id} {...{ claim, chosen }} />
      ))}
      <Places {...{ places, chosen }} />
      {left > 0 && <p className="quiet">and {left.toLocaleString('en')} more paths</p>}
    </section>
  );
}

interface PlacesProps {
  readonly places: readonly Place[];
  readonly chosen: string | null;
}

function Places({ places, chosen }: PlacesProps): ReactNode {
  if (places.length === 0) return null;
  return (
    <ul className="places">
      {places.map((place) => (
        <li key={place.path}>
          <div className="place">
            <span className="place-name clip">
              <Code text={place.places.length > 0 ? `${place.name}/` : place.name} />
            </span>
            <span className="place-holders">
              {place.claims.map((claim) => (
                <Holder key={claim.task_id} {...{ claim, chosen }} />
              ))}
            </span>
          </div>
          <Places {...{ places: place.places, chosen }} />
        </li>
      ))}
    </ul>
  );
}

function Holder({ claim, chosen }: { claim: Claim; chosen: string | null }): ReactNode {
  const now = useNow();
  const { task_id: id, owner, branch, status, lease_expires_at: until } = claim;
  const gone = claim.gone_since;
  return (
    <a
      className="holder"
      data-row
      href={hrefOf('work', 'claims', id)}
      aria-current={id === chosen ? 'true' : undefined}
    >
      <Name of={owner} />
      <span className="holder-what clip">
        <Code text={id} />
        {branch !== null && (
          <>
            {' '}
            on <Code text={branch} />
          </>
        )}
      </span>
      <span className="holder-time">
        {gone === undefined ? (
          <>
            {status === 'claimed' ? '' : `${status.replace('_', ' ')} · `}
            {leftText(until - now)}
          </>
        ) : (
          <>
            gone <Ago at={gone} />
          </>
        )}
      </span>
    </a>
  );
}

interface QueueProps {
  readonly waits: readonly {
    readonly agent_id: string;
    readonly task_id: string | null;
    readonly since: number;
    readonly reserved: boolean;
    readonly waits_for: readonly string[];
  }[];
}

function Queue({ waits }: QueueProps): ReactNode {
  return (
    <section className="waits" aria-label="Who waits for what is held">
      <h2>
        Waiting for a claim <span className="quiet">{waits.length}</span>
      </h2>
      {waits.length === 0 && <p className="quiet">Nobody waits for what another holds.</p>}
      <ul>
        {waits.map((wait) => (
          <li
            key={`${wait.agent_id} ${wait.task_id} ${wait.since}`}
            className="wait"
            data-row
            tabIndex={-1}
          >
            <Name of={wait.agent_id} />
            <span className="quiet">{wait.reserved ? 'may take' : 'waits for'}</span>
            {!wait.reserved && <Names of={wait.waits_for} />}
            <span className="clip">
              {wait.task_id === null ? 'files' : <Code text={wait.task_id} />}
            </span>
            <span className="wait-time quiet">
              {wait.reserved ? 'its turn' : <Ago at={wait.since} />}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Names({ of }: { readonly of: readonly string[] }): ReactNode {
  return of.map((name, i) => (
    <span key={name}>
      {i > 0 && ', '}
      <Name of={name} />
    </span>
  ));
}

/** Questions that nobody has answered, and circles of them. */
function Answers(): ReactNode {
  const { value } = useAsk('receipts.waits', { limit: 50 }, ['messages', 'receipts']);
  if (value === undefined || value.waits.length === 0) return null;
  return (
    <section className="waits" aria-label="Who waits for an answer">
      <h2>
        Waiting for an answer <span className="quiet">{value.waits.length}</span>
      </h2>
      {value.deadlocked.length > 0 && (
        <p className="broken">
          They wait for each other: <Names of={value.deadlocked} />
        </p>
      )}
      <ul>
        {value.waits.map((wait) => (
          <li key={wait.message_id} className="wait" data-row tabIndex={-1}>
            <Name of={wait.agent_id} />
            <span className="quiet">waits for</span>
            <span className="clip">
              <Names of={wait.waits_for} />
            </span>
            <span className="clip">
              <a href={hrefOf('talk', wait.channel, wait.message_id)}>
                <Words text={wait.channel} />
              </a>
            </span>
            <span className="wait-time quiet">
              <Ago at={wait.since} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
