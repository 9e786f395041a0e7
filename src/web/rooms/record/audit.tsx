/** What was decided, refused and done, the newest first: who, what, to what, and how it ended. Hashes, never bodies. */
import { type FormEvent, type ReactNode, useState } from 'react';
import { Ago } from '../../parts/ago.tsx';
import { Button } from '../../parts/button.tsx';
import { Shown } from '../../parts/shown.tsx';
import { Code, Name, Words } from '../../parts/words.tsx';
import { useCell } from '../../store/cell.ts';
import { useAsk, useStore } from '../../store/use-store.ts';
import { type Run, runsOf } from './runs.ts';

interface Wanted {
  readonly actor?: string;
  readonly action?: string;
}

const ROWS = 100;
/** Nouns that a person looks for; the field takes any. */
const ACTIONS = ['gate', 'turn', 'token', 'refusal', 'claim', 'task', 'bus', 'person'];

export function Audit(): ReactNode {
  const [wanted, setWanted] = useState<Wanted>({});
  const [pages, setPages] = useState<readonly string[]>([]);
  const look = (next: Wanted): void => {
    setPages([]);
    setWanted(next);
  };
  return (
    <section className="audit" aria-label="What was done">
      <header className="audit-head">
        <h2>What was done</h2>
        <Wishes onLook={look} />
      </header>
      <Page
        wanted={wanted}
        after={null}
        onMore={(next) => setPages([next])}
        isLast={pages.length === 0}
      />
      {pages.map((after, i) => (
        <Page
          key={after}
          wanted={wanted}
          after={after}
          onMore={(next) => setPages([...pages, next])}
          isLast={i === pages.length - 1}
        />
      ))}
    </section>
  );
}

function Wishes({ onLook }: { onLook(wanted: Wanted): void }): ReactNode {
  const [actor, setActor] = useState('');
  const [action, setAction] = useState('');
  const look = (event: FormEvent): void => {
    event.preventDefault();
    onLook({ ...(actor !== '' && { actor }), ...(action !== '' && { action }) });
  };
  return (
    <form className="audit-wishes" onSubmit={look}>
      <input
        className="field"
        aria-label="Who did it"
        placeholder="who"
        value={actor}
        maxLength={256}
        onChange={({ target }) => setActor(target.value)}
      />
      <input
        className="field"
        aria-label="What was done"
        placeholder="what: gate, turn, token …"
        list="audit-actions"
        value={action}
        maxLength={64}
        onChange={({ target }) => setAction(target.value)}
      />
      <datalist id="audit-actions">
        {ACTIONS.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <Button type="submit">Look</Button>
    </form>
  );
}

interface PageProps {
  readonly wanted: Wanted;
  readonly after: string | null;
  readonly isLast: boolean;
  onMore(next: string): void;
}

function Page({ wanted, after, isLast, onMore }: PageProps): ReactNode {
  // The first page follows what happens; those behind it stay as they are.
  const position = useCell(useStore().past);
  const from = after ?? (position === null ? null : String(position));
  const input = { ...wanted, limit: ROWS, ...(from !== null && { after: from }) };
  const asked = useAsk('audit.list', input, from === null ? ['record'] : []);
  return (
    <Shown asked={asked}>
      {({ deeds, next }) => (
        <>
          {deeds.length === 0 && next === null && (
            <p className="quiet">Nothing like this is on the record.</p>
          )}
          <ol>
            {runsOf(deeds).map((run) => (
              <li key={run.deed.position}>
                <DeedRow run={run} />
              </li>
            ))}
          </ol>
          {isLast && next !== null && <Button onClick={() => onMore(next)}>Older</Button>}
        </>
      )}
    </Shown>
  );
}

/** Who proved it, where that is another name than the one that called: a person at an agent's terminal. */
function deciderOf({ action, actor, detail }: Run['deed']): string | null {
  const { person } = detail;
  const isDecision = action === 'gate.approved' || action === 'gate.denied';
  return isDecision && typeof person === 'string' && person !== actor ? person : null;
}

function DeedRow({ run: { deed, count } }: { readonly run: Run }): ReactNode {
  const { past } = useStore();
  const detail = Object.entries(deed.detail).map(([name, value]) => `${name} ${value}`);
  const decider = deciderOf(deed);
  const isRefused = deed.action === 'refusal.recorded' || deed.outcome === 'refused';
  return (
    <details className="deed">
      <summary data-row>
        <span className="deed-time quiet">
          <Ago at={deed.at} />
        </span>
        <span className="deed-who clip">
          <Name of={deed.actor} />
        </span>
        <span className="deed-what clip">
          <Words text={deed.action.replace('.', ' ')} />{' '}
          {deed.subject !== null && <Code text={deed.subject} />}
          {count > 1 && <span className="quiet"> × {count}</span>}
        </span>
        <span className={isRefused ? 'deed-end' : 'deed-end quiet'}>
          <Words text={deed.outcome} />
          {decider !== null && <Words text={` by ${decider}`} />}
        </span>
      </summary>
      <p className="deed-more">
        {count > 1 && 'the newest of them: '}position {deed.position.toLocaleString('en')}
        {detail.length > 0 && (
          <>
            {' '}
            · <Words text={detail.join(' · ')} />
          </>
        )}
        {deed.body_hash !== null && (
          <>
            {' '}
            · body <Code text={deed.body_hash} />
          </>
        )}{' '}
        <button type="button" className="link" onClick={() => past.set(deed.position + 1)}>
          See everything as it was then
        </button>
      </p>
    </details>
  );
}
