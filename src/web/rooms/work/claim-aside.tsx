/** One claim: what it covers, until when, where its holder stands with it, and freeing it by force. */
import type { ReactNode } from 'react';
import { plainLine } from '../../../wire/plain-line.ts';
import { Since, useNow } from '../../parts/ago.tsx';
import { Aside } from '../../parts/aside.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Code, Name, Prose, Words } from '../../parts/words.tsx';
import { hrefOf } from '../../store/route.ts';
import { useAct, useAsk } from '../../store/use-store.ts';
import type { Claim } from './claims-tree.ts';
import { leftText } from './lease.ts';

const PATHS_SHOWN = 50;

export function ClaimAside({ id }: { readonly id: string }): ReactNode {
  const { value } = useAsk('claims.list', { limit: 500 }, ['claims']);
  const claim = value?.claims.find((one) => one.task_id === id);
  return (
    <Aside title={<Code text={id} />} label="A claim" back={hrefOf('work', 'claims')}>
      {claim === undefined ? (
        <p className="quiet">Nobody holds this (any more).</p>
      ) : (
        <Body claim={claim} />
      )}
    </Aside>
  );
}

function Body({ claim }: { readonly claim: Claim }): ReactNode {
  const now = useNow();
  const act = useAct();
  const { task_id: id, owner, epoch, paths, worktree, branch } = claim;
  const gone = claim.gone_since;
  return (
    <>
      <Facts
        rows={[
          ['held by', <Name key="owner" of={owner} />],
          ['stands at', claim.status.replace('_', ' ')],
          [
            'gone',
            gone === undefined ? null : (
              <span key="gone">
                since <Since at={gone} />
              </span>
            ),
          ],
          ['since', <Since key="since" at={claim.claimed_at} />],
          ['lease', leftText(claim.lease_expires_at - now)],
          ['worktree', worktree === '' ? null : <Code key="worktree" text={worktree} />],
          ['branch', branch === null ? null : <Code key="branch" text={branch} />],
          ['epoch', String(epoch)],
          [
            'offered to',
            claim.offered_to === null ? null : <Name key="offered" of={claim.offered_to} />,
          ],
          [
            'checkpoint',
            claim.checkpoint === null ? null : <Words key="c" text={claim.checkpoint} />,
          ],
        ]}
      />
      {claim.note !== '' && <Prose text={claim.note} />}
      <div className="acts">
        <Confirm
          act="Release"
          title={plainLine(`Release ${id}?`, ' ')}
          run={() => act('claims.release', { task_id: id, epoch, force: true })}
        >
          <p>
            <Name of={owner} /> loses it at once, and whoever waits is next. What it did not save as
            a checkpoint is only in its own files. On the command line:{' '}
            <Code text={`synod release ${id} --force`} />
          </p>
        </Confirm>
        <a className="button" href={hrefOf('work', 'board', id)}>
          On the board
        </a>
      </div>
      <section aria-label="Paths">
        <h3>
          {paths.length === 0 ? (worktree === '' ? 'No files' : 'All of the worktree') : 'Paths'}
        </h3>
        <ul className="paths">
          {paths.slice(0, PATHS_SHOWN).map((path) => (
            <li key={path}>
              <Code text={path} />
            </li>
          ))}
          {paths.length > PATHS_SHOWN && (
            <li className="quiet">and {(paths.length - PATHS_SHOWN).toLocaleString('en')} more</li>
          )}
        </ul>
      </section>
    </>
  );
}
