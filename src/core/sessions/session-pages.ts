/** Sessions a page at a time, and what of them a caller may see. */
import { isPerson } from '../docket/docket-commands.ts';
import { type Page, type PageBounds, takePage } from '../law/page.ts';
import type { Principal } from '../law/principal.ts';
import type { WorldView } from '../law/state.ts';
import { mayRead, mayReadEnded } from './session-access.ts';
import { type EndedSession, type SessionView, sessionNumber } from './session-state.ts';

export interface SessionQuery extends PageBounds {
  readonly by: Principal;
  /** Who holds or created it. */
  readonly agent?: string | undefined;
  readonly key?: string | undefined;
  /** Also those that are over. */
  readonly isAll: boolean;
  readonly after?: string | undefined;
}

export type Listed = { readonly live: SessionView } | { readonly ended: EndedSession };

/** The newest first. */
export function sessionsPage(world: WorldView, query: SessionQuery): Page<Listed, string> {
  const { by, agent, key, isAll, after } = query;
  const { live, ended, byAgent } = world.sessions;
  const below = after === undefined ? Number.POSITIVE_INFINITY : sessionNumber(after);
  const whose = isPerson(by) ? agent : by.id;
  const ids = whose === undefined ? live.keys() : (byAgent.get(whose) ?? []);
  const rows: (SessionView | EndedSession)[] = [];
  for (const id of ids) {
    const one = live.get(id);
    if (one !== undefined && mayRead(one, by)) rows.push(one);
  }
  if (isAll) {
    for (const one of ended.values()) if (mayReadEnded(one, by)) rows.push(one);
  }
  const isMeant = (one: SessionView | EndedSession): boolean =>
    sessionNumber(one.id) < below &&
    (agent === undefined || one.holder === agent || one.createdBy === agent) &&
    (key === undefined || one.key === key);
  const listed = rows
    .filter(isMeant)
    .sort((a, b) => sessionNumber(b.id) - sessionNumber(a.id))
    .map((one): Listed => ('endedAt' in one ? { ended: one } : { live: one }));
  return takeSome(listed, query);
}

/** The places of a live one are many, and are not shown. */
function takeSome(listed: readonly Listed[], bounds: PageBounds): Page<Listed, string> {
  const { rows, next } = takePage(
    listed.map((one, i) => ({ i, id: idOf(one) })),
    ({ id }) => id,
    bounds,
  );
  return { rows: rows.map(({ i }) => listed[i] as Listed), next };
}

function idOf(one: Listed): string {
  return 'live' in one ? one.live.id : one.ended.id;
}
