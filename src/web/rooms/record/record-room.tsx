/** The room Record: whether the chain holds and what vouches for it outside, and what was decided, refused and done. */
import type { ReactNode } from 'react';
import type { CallOutput } from '../../../client/index.ts';
import { Since } from '../../parts/ago.tsx';
import { Command } from '../../parts/empty.tsx';
import { Facts } from '../../parts/facts.tsx';
import { RoomHead } from '../../parts/room-head.tsx';
import { Shown } from '../../parts/shown.tsx';
import { Code, Words } from '../../parts/words.tsx';
import { useCell } from '../../store/cell.ts';
import { useAsk, useStore } from '../../store/use-store.ts';
import { Audit } from './audit.tsx';
import './record.css';

type Head = CallOutput<'record.head'>;

export function RecordRoom(): ReactNode {
  const head = useAsk('record.head', {}, ['record']);
  const isPast = useCell(useStore().past) !== null;
  return (
    <>
      <RoomHead title="Record" />
      <Shown asked={head}>
        {(value) => (
          <div className="record">
            <Chain head={value} isPast={isPast} />
            <Vouchers head={value} />
          </div>
        )}
      </Shown>
      <Audit />
    </>
  );
}

interface ChainProps {
  readonly head: Head;
  readonly isPast: boolean;
}

function Chain({ head: { length, head, verified }, isPast }: ChainProps): ReactNode {
  const isBroken = verified !== null && !verified.ok;
  return (
    <section className={isBroken ? 'chain chain-broken' : 'chain'} aria-label="The chain">
      <p className="chain-line">
        {verified === null && 'The chain was not walked yet'}
        {verified?.ok === true &&
          (verified.through < length
            ? 'The chain holds as far as it was walked'
            : 'The chain holds')}
        {isBroken && <>The chain is broken after entry {verified.through.toLocaleString('en')}</>}
      </p>
      {isPast && <p className="quiet">The chain and what vouches for it are those of now.</p>}
      {isBroken && (
        <p>
          <Words text={verified.reason ?? 'what follows does not match it'} />. Everything before is
          as it was written. <Command line="synod log verify" />
        </p>
      )}
      <Facts
        rows={[
          ['entries', length.toLocaleString('en')],
          ['head', <Code key="head" text={head} />],
          [
            'walked',
            verified === null ? null : (
              <span key="walked">
                <Since at={verified.at} />, the first {verified.through.toLocaleString('en')}{' '}
                {verified.through === 1 ? 'entry' : 'entries'}
              </span>
            ),
          ],
        ]}
      />
    </section>
  );
}

function Vouchers({ head: { signed, anchor, length } }: { readonly head: Head }): ReactNode {
  return (
    <>
      <section aria-label="Signed head">
        <h2>Signed by this hub</h2>
        {signed === null ? (
          <p className="quiet">No head is signed yet.</p>
        ) : (
          <Facts
            rows={[
              ['at', <At key="at" position={signed.position} of={length} />],
              ['when', <Since key="when" at={signed.at} />],
              ['key', <Code key="key" text={signed.key} />],
            ]}
          />
        )}
      </section>
      <section aria-label="Anchor">
        <h2>Anchored elsewhere</h2>
        {anchor === null ? (
          <>
            <p className="quiet">
              Nothing outside this machine vouches for the record: who can write its files could
              rewrite all of it. An anchor ends that:
            </p>
            <Command line="synod log anchor --file FILE" />
          </>
        ) : (
          <Facts
            rows={[
              ['at', <At key="at" position={anchor.position} of={length} />],
              ['when', <Since key="when" at={anchor.at} />],
              ['where', <Words key="way" text={anchor.way} />],
            ]}
          />
        )}
      </section>
    </>
  );
}

function At({ position, of }: { readonly position: number; readonly of: number }): ReactNode {
  const behind = Math.max(0, of - position);
  return (
    <span>
      {position.toLocaleString('en')} entries
      {behind > 0 && <span className="quiet">, {behind.toLocaleString('en')} since</span>}
    </span>
  );
}
