/**
 * A story told to the law of claims alone: commands are decided against a book and their events
 * evolve it. Time stands still until it is told to move, and what lapses on the way lapses.
 */

import type { Refusal } from '../core/law/decider.ts';
import type { PrincipalKind } from '../core/law/principal.ts';
import type { ClaimCommand, ClaimEvent } from '../core/work/claim/claim-events.ts';
import { evolveClaims } from '../core/work/claim/claim-evolve.ts';
import { type ClaimBook, createClaimBook } from '../core/work/claim/claim-state.ts';
import {
  type ClaimAnswers,
  decideClaim,
  expireClaims,
  nextExpiry,
} from '../core/work/claim/claims.ts';
import type { Scope } from '../core/work/claim/scope.ts';
import { codeOf } from './story.ts';

type AnswerOf<Type extends ClaimCommand['type']> = Extract<
  ClaimAnswers[Type],
  { answer: unknown }
>['answer'];
type Wishes<Type extends ClaimCommand['type']> = Partial<Extract<ClaimCommand, { type: Type }>>;

export interface ClaimStory {
  readonly book: ClaimBook;
  readonly events: ClaimEvent[];
  /** Agents that are not there; everybody else is. */
  readonly absent: Set<string>;
  at: number;
  /** Decides and evolves; what is not wished for is null. */
  do<Type extends ClaimCommand['type']>(
    agent: string,
    type: Type,
    wishes: Wishes<Type>,
    kind?: PrincipalKind,
  ): AnswerOf<Type> | Refusal;
  /** The same, where a refusal is an error in the story. */
  ask<Type extends ClaimCommand['type']>(
    agent: string,
    type: Type,
    wishes: Wishes<Type>,
  ): AnswerOf<Type>;
  /** Takes these paths of the worktree `w`, under the id. */
  take(agent: string, id: string, ...paths: readonly string[]): AnswerOf<'claim.take'>;
  tryTake(agent: string, id: string, ...paths: readonly string[]): AnswerOf<'claim.take'> | Refusal;
  release(agent: string, id: string): void;
  /** Offers a claim and has it taken over. */
  handOver(from: string, id: string, to: string): AnswerOf<'claim.take'> | Refusal;
  /** Lets time pass and what lapses on the way lapse. */
  pass(ms: number): void;
}

export function scopeOf(...paths: readonly string[]): Scope {
  return { worktree: 'w', branch: null, paths };
}

const NOTHING = {
  idempotency: null,
  epoch: null,
  scope: null,
  ttlMs: null,
  note: null,
  git: null,
  status: null,
  dataRef: null,
  expectedVersion: null,
  evidence: null,
  isForced: false,
  wait: null,
  from: null,
};

export function createClaimStory(book: ClaimBook = createClaimBook(), at = 1_000_000): ClaimStory {
  const events: ClaimEvent[] = [];
  const record = (happened: readonly ClaimEvent[]): void => {
    for (const event of happened) {
      evolveClaims(book, event);
      events.push(event);
    }
  };
  const story: ClaimStory = {
    book,
    events,
    absent: new Set(),
    at,
    do(agent, type, wishes, kind = 'agent') {
      const by = { id: agent, kind, tier: 'standard' } as const;
      const id = type === 'claim.wait' ? null : '';
      const command = { ...NOTHING, id, ...wishes, type, by, at: story.at } as ClaimCommand;
      const decision = decideClaim(book, command, {
        claimsPerAgent: null,
        presenceOf: (name) => (story.absent.has(name) ? 'absent' : 'present'),
      });
      if ('refused' in decision) return decision;
      record(decision.events);
      return decision.answer as never;
    },
    ask(agent, type, wishes) {
      const answer = story.do(agent, type, wishes);
      if (typeof answer === 'object' && 'refused' in answer) throw new Error(answer.message);
      return answer as never;
    },
    take: (agent, id, ...paths) => story.ask(agent, 'claim.take', { id, scope: scopeOf(...paths) }),
    tryTake: (agent, id, ...paths) =>
      story.do(agent, 'claim.take', { id, scope: scopeOf(...paths) }),
    release(agent, id) {
      story.ask(agent, 'claim.release', { id });
    },
    handOver(from, id, to) {
      story.ask(from, 'claim.hand-off', { id, to });
      return story.do(to, 'claim.take', { id });
    },
    pass(ms) {
      const end = story.at + ms;
      for (let next = nextExpiry(book); next !== null && next <= end; next = nextExpiry(book)) {
        story.at = Math.max(story.at, next);
        record(expireClaims(book, story.at));
      }
      story.at = end;
    },
  };
  return story;
}

export function refusalOf(answer: unknown): Refusal {
  if (codeOf(answer) === null) throw new Error('it was not refused');
  return answer as Refusal;
}
