/**
 * Which nouns may look different after an event, for who shows them and wants to ask again. The table is
 * complete by its type: an event without a row does not compile. Nothing but names of nouns is told [WD7].
 */
import { type Refusal, refuse } from '../../core/law/decider.ts';
import type { DurableEvent } from '../../core/law/world.ts';
import type { Hub } from '../../hub/hub.ts';
import type { Caller } from './caller.ts';
import type { Platform } from './platform.ts';

export type Noun =
  | 'agents'
  | 'channels'
  | 'claims'
  | 'context'
  | 'docket'
  | 'findings'
  | 'gates'
  | 'groups'
  | 'held'
  | 'instances'
  | 'messages'
  | 'offers'
  | 'people'
  | 'plan'
  | 'receipts'
  | 'sessions'
  | 'settings'
  | 'tokens'
  | 'turns'
  | 'workflows';

/** Besides `record`, which every event makes longer. */
const NOUNS: Readonly<Record<DurableEvent['type'], readonly Noun[]>> = {
  'message.sent': ['messages', 'channels', 'agents'],
  'message.reviewed': ['messages', 'held', 'docket'],
  'held.expired': ['held', 'docket'],
  'channel.retired': ['channels', 'messages'],
  'channel.described': ['channels'],
  'thread.marked': ['messages'],
  'agent.removed': ['agents', 'groups', 'claims', 'turns'],
  'agent.seen': ['agents'],
  'subscription.added': ['channels', 'agents'],
  'subscription.removed': ['channels', 'agents'],
  'inbox.drained': ['receipts', 'agents'],
  'inbox.lapsed': ['receipts', 'agents'],
  'ack.recorded': ['receipts', 'messages'],
  'presence.changed': ['agents'],
  'group.created': ['groups', 'channels'],
  'group.invited': ['groups'],
  'group.joined': ['groups'],
  'group.left': ['groups'],
  'group.removed': ['groups', 'channels'],
  'space.configured': ['settings'],
  'channel.configured': ['channels'],
  'token.created': ['tokens', 'agents'],
  'token.rotated': ['tokens'],
  'token.revoked': ['tokens', 'agents'],
  'refusal.recorded': [],
  'bus.recorded': [],
  'guard.recorded': [],
  'wake.recorded': [],
  'log.compacted': ['messages'],
  'snapshot.taken': [],
  'log.broken': ['docket'],
  'agent.assigned': ['agents'],
  'docket.raised': ['docket'],
  'docket.taken': ['docket'],
  'docket.closed': ['docket'],
  'docket.noticed': ['docket'],
  'docket.blocked': ['docket', 'agents'],
  'docket.unblocked': ['docket', 'agents'],
  'docket.lapsed': ['docket'],
  'gate.asked': ['gates', 'docket'],
  'gate.approved': ['gates', 'docket'],
  'gate.denied': ['gates', 'docket'],
  'gate.consumed': ['gates', 'docket'],
  'gate.ended': ['gates', 'docket'],
  'person.added': ['people'],
  'person.removed': ['people'],
  'passkey.added': ['people'],
  'passkey.removed': ['people'],
  'passkey.used': [],
  'agent.managed': ['agents', 'turns'],
  'agent.unmanaged': ['agents', 'turns'],
  'agent.paused': ['agents', 'turns', 'docket'],
  'agent.resumed': ['agents', 'turns', 'docket'],
  'agent.parked': ['agents', 'turns', 'docket'],
  'agent.defined': ['instances', 'agents'],
  'agent.undefined': ['instances', 'agents'],
  'instance.started': ['instances'],
  'instance.taken': ['instances'],
  'instance.moved': ['instances'],
  'instance.renewed': ['instances'],
  'context.written': ['context'],
  'context.deleted': ['context'],
  'session.created': ['sessions'],
  'session.forked': ['sessions'],
  'session.appended': ['sessions'],
  'session.rewound': ['sessions'],
  'session.compacted': ['sessions'],
  'session.handed-off': ['sessions'],
  'session.parked': ['sessions', 'docket'],
  'session.shared': ['sessions'],
  'session.ended': ['sessions', 'docket'],
  'run.started': ['workflows'],
  'run.taken': ['workflows'],
  'run.recorded': ['workflows'],
  'run.renewed': [],
  'run.woken': ['workflows'],
  'run.lapsed': ['workflows', 'docket'],
  'run.signalled': ['workflows'],
  'run.cancelled': ['workflows', 'docket'],
  'run.retried': ['workflows', 'docket'],
  'run.answered': ['workflows', 'docket'],
  'queue.declared': ['workflows'],
  'turn.due': ['turns', 'agents'],
  'turn.waits': ['turns', 'agents'],
  'turn.stilled': ['turns', 'agents', 'docket'],
  'turn.passed': ['turns', 'agents'],
  'turn.taken': ['turns', 'agents'],
  'turn.renewed': ['turns'],
  'turn.finished': ['turns', 'agents', 'docket'],
  'turn.failed': ['turns', 'agents', 'docket'],
  'turn.retried': ['turns', 'agents', 'docket'],
  'turn.dead': ['turns', 'agents', 'docket'],
  'turn.cancelled': ['turns', 'agents', 'docket'],
  'turn.revived': ['turns', 'agents', 'docket'],
  'claim.taken': ['claims', 'plan', 'agents'],
  'claim.renewed': ['claims', 'plan', 'agents'],
  'claim.updated': ['claims', 'plan', 'agents'],
  'claim.checkpointed': ['claims', 'plan', 'agents'],
  'claim.offered': ['claims', 'plan', 'agents'],
  'claim.handed-off': ['claims', 'plan', 'agents'],
  'claim.released': ['claims', 'plan', 'agents'],
  'claim.expired': ['claims', 'plan', 'agents'],
  'claim.forgotten': [],
  'claim.keyed': [],
  'wait.started': ['claims', 'plan'],
  'wait.reserved': ['claims', 'plan'],
  'wait.ended': ['claims', 'plan'],
  'task.declared': ['plan'],
  'task.updated': ['plan'],
  'task.removed': ['plan'],
  'task.escalated': ['plan'],
  'progress.noted': ['plan'],
  'offer.made': ['offers'],
  'offer.expired': ['offers'],
  'offer.withdrawn': ['offers'],
  'card.advertised': ['offers'],
  'card.dropped': ['offers'],
  'finding.recorded': ['findings'],
  'recall.logged': ['findings'],
};

/** How long news gathers: people do not see faster, and a busy hub is not asked more often. */
export const CHANGES_EVERY_MS = 100;

export interface Changed {
  readonly nouns: readonly string[];
  /** The newest position. */
  readonly position: number;
}

/** Who may follow: what is on the record is for people and administrators, and so is what moved there. */
export function checkFollower({ principal }: Caller): Refusal | null {
  if (principal.kind === 'human' || principal.kind === 'admin') return null;
  return refuse('access.denied', 'changes are told to people and administrators; follow messages');
}

/** The first news at once, and what comes within a moment of it together. */
export function followChanges(
  hub: Hub,
  { elapsedMs, after }: Platform,
  tell: (changed: Changed) => void,
): () => void {
  const nouns = new Set<string>();
  let position = -1;
  let toldAt = -CHANGES_EVERY_MS;
  let isWaiting = false;
  let isOver = false;

  function flush(): void {
    isWaiting = false;
    if (isOver) return;
    toldAt = elapsedMs();
    tell({ nouns: [...nouns, 'record'], position });
    nouns.clear();
  }

  const stop = hub.watch.events((_world, first, events) => {
    for (const event of events) gather(nouns, event);
    position = first + events.length - 1;
    if (isWaiting) return;
    const waitMs = toldAt + CHANGES_EVERY_MS - elapsedMs();
    if (waitMs <= 0) return flush();
    isWaiting = true;
    after(waitMs, flush);
  });
  return () => {
    isOver = true;
    stop();
  };
}

function gather(nouns: Set<string>, event: DurableEvent): void {
  for (const noun of NOUNS[event.type]) nouns.add(noun);
  // Some of what an executor says is put before a person.
  if (event.type === 'run.recorded' && event.entries.some(isForPeople)) nouns.add('docket');
  if (event.type === 'message.sent' && event.held !== undefined) nouns.add('held').add('docket');
}

function isForPeople({ kind }: { readonly kind: string }): boolean {
  return kind === 'stuck' || kind === 'ended' || kind === 'waiting';
}
