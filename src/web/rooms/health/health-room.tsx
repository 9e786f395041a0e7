/** The room Health: how the hub has been doing for the last ten minutes. It asks on a slow beat while it is looked at. */
import type { ReactNode } from 'react';
import { Ago } from '../../parts/ago.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Facts } from '../../parts/facts.tsx';
import { RoomHead } from '../../parts/room-head.tsx';
import { Name, Words } from '../../parts/words.tsx';
import { useCell } from '../../store/cell.ts';
import { useStore } from '../../store/use-store.ts';
import { bytesText, countText, durationText } from './amounts.ts';
import { Spark } from './spark.tsx';
import { useVitals, type Vitals } from './use-vitals.ts';
import './health.css';

export function HealthRoom(): ReactNode {
  const isPast = useCell(useStore().past) !== null;
  return (
    <>
      <RoomHead title="Health" />
      {isPast ? (
        <Empty title="Health is of now">
          What the hub measures of itself is kept for ten minutes and is not on the record.
        </Empty>
      ) : (
        <Now />
      )}
    </>
  );
}

function Now(): ReactNode {
  const { vitals, problem } = useVitals();
  if (vitals === null) {
    if (problem === null) return <p className="waiting">Asking the hub…</p>;
    return (
      <Empty title="The hub did not answer this">
        <Words text={problem} />
      </Empty>
    );
  }
  return (
    <div className="health">
      <Charts vitals={vitals} />
      <div className="health-facts">
        <Standing vitals={vitals} />
        <SlowReaders vitals={vitals} />
        <Bus vitals={vitals} />
      </div>
    </div>
  );
}

function Charts({ vitals: { samples } }: { readonly vitals: Vitals }): ReactNode {
  const of = (name: keyof (typeof samples)[number]): (number | null)[] =>
    samples.map((sample) => sample[name]);
  return (
    <div className="charts">
      <Spark title="Entries a second" lines={[of('entries_per_s')]} text={countText} />
      <Spark title="Calls a second" lines={[of('calls_per_s')]} text={countText} />
      <Spark
        title="Until it is durable"
        note="p50 and p99 of appends"
        lines={[of('append_ms_p99'), of('append_ms_p50')]}
        text={durationText}
      />
      <Spark
        title="Until it is answered"
        note="p50 and p99 of calls"
        lines={[of('call_ms_p99'), of('call_ms_p50')]}
        text={durationText}
      />
      <Spark
        title="Busy"
        note="part of the time it works"
        lines={[of('busy')]}
        topAtLeast={0.1}
        text={(part) => `${Math.round(part * 100)} %`}
      />
      <Spark
        title="Memory"
        note="resident, and heap"
        lines={[of('rss_bytes'), of('heap_bytes')]}
        text={bytesText}
      />
    </div>
  );
}

function Standing({ vitals }: { readonly vitals: Vitals }): ReactNode {
  const { store, now, uptime_s: uptime, samples } = vitals;
  const failures = samples.reduce((sum, sample) => sum + sample.failures, 0);
  const connections = Object.entries(now.connections).map(([door, count]) => `${count} ${door}`);
  return (
    <section aria-label="The hub">
      <h2>The hub</h2>
      <Facts
        rows={[
          ['running for', durationText(uptime * 1_000)],
          [
            'store',
            <span key="store" className={store.ok ? '' : 'broken'}>
              {store.kind}
              {store.bytes !== null && `, ${bytesText(store.bytes)}`}
              {store.ok ? '' : ': it cannot be written to'}
            </span>,
          ],
          ['entries', store.entries.toLocaleString('en')],
          ['connections', connections.join(', ') || 'none'],
          ['feeds', String(now.feeds)],
          ['queue', now.queued === 0 ? 'empty' : `${now.queued.toLocaleString('en')} wait`],
          [
            'failures',
            failures === 0 ? (
              'none in ten minutes'
            ) : (
              <span key="failures" className="broken">
                {failures} in ten minutes; the log of the hub tells of each
              </span>
            ),
          ],
        ]}
      />
    </section>
  );
}

function SlowReaders({ vitals: { slow_readers: slow } }: { readonly vitals: Vitals }): ReactNode {
  return (
    <section aria-label="Slow readers">
      <h2>
        Slow readers <span className="quiet">{slow.total}</span>
      </h2>
      {slow.last.length === 0 && <p className="quiet">Nobody was cut off for not reading.</p>}
      <ul>
        {slow.last.map((one) => (
          <li key={`${one.agent_id} ${one.at}`} className="slow" data-row tabIndex={-1}>
            <Name of={one.agent_id} />
            <span className="clip">
              did not take {bytesText(one.bytes)} ({one.door})
            </span>
            <span className="slow-time quiet">
              <Ago at={one.at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Bus({ vitals: { bus } }: { readonly vitals: Vitals }): ReactNode {
  if (bus === null) {
    return (
      <section aria-label="Bus">
        <h2>Bus</h2>
        <p className="quiet">
          This hub runs no pools of workers; <code>synod serve --bus FILE</code> does.
        </p>
      </section>
    );
  }
  return (
    <section aria-label="Bus">
      <h2>Bus</h2>
      <p className="quiet">
        {bus.clients} clients, {bus.sessions} sessions, {bus.pending} without an answer,{' '}
        {bus.restarts} restarts
      </p>
      <table className="pools">
        <thead>
          <tr>
            <th scope="col">pool</th>
            <th scope="col">workers</th>
            <th scope="col">queued</th>
          </tr>
        </thead>
        <tbody>
          {bus.pools.map((pool) => (
            <tr key={pool.pool}>
              <th scope="row">
                <Name of={pool.pool} />
              </th>
              <td>
                {Object.entries(pool.workers).map(([state, count]) => (
                  <span
                    key={state}
                    className={state === 'failed' ? 'broken pool-state' : 'pool-state'}
                  >
                    {count} {state}
                  </span>
                ))}
              </td>
              <td>{bytesText(pool.queued_bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
