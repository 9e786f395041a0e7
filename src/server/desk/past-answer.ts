/**
 * An operation carried out at an earlier moment: by the same handlers, on the world as it was then, with
 * a clock that shows that time [PA1]. What is not in the log is not there: connections, what runs, the
 * disk, chance. Whatever a handler tries beyond reading the world and the log is refused.
 */
import type { Refusal } from '../../core/law/decider.ts';
import type { World } from '../../core/law/state.ts';
import type { MessageHead } from '../../hub/message-store.ts';
import { openPastHub, type PastLog } from '../../hub/past-hub.ts';
import { checkAccess } from './access.ts';
import { createActivities, createActivity } from './activity.ts';
import type { Caller } from './caller.ts';
import { HANDLERS } from './handlers/handlers.ts';
import { parseInput } from './input.ts';
import { outputText } from './output-text.ts';
import type { PastCaller } from './past.ts';
import { findPastOperation, mayStillRead, notOfPast } from './past-rules.ts';
import type { Platform } from './platform.ts';
import { createProofs } from './proofs.ts';
import type { HandledId, Room } from './room.ts';
import type { Spaces } from './spaces.ts';
import { createWebSessions } from './web-sessions.ts';

export interface PastScene {
  readonly world: World;
  readonly log: PastLog;
  /** What the clock shows. */
  readonly at: number;
  /** SHA-256, as everywhere. */
  digest(text: string): string;
  /** Which of these messages, that were open to the caller then, still are. */
  screen(heads: readonly MessageHead[]): Promise<readonly boolean[]>;
}

/** What the operation answered then, as JSON; `name` is one that `findPastOperation` finds. */
export async function answerThen(
  scene: PastScene,
  who: PastCaller,
  name: string,
  input: unknown,
): Promise<string | Refusal> {
  const operation = findPastOperation(name);
  if ('refused' in operation) return operation;
  const { world, at } = scene;
  const { principal: by, space } = who;
  const caller = createPastCaller(who);
  const denied = checkAccess(caller, operation.access);
  if (denied !== null) return denied;
  const parsed = parseInput(operation, input);
  if ('refused' in parsed) return parsed;
  const platform = createPastPlatform(scene);
  const hub = openPastHub({
    ...{ space, world, at, log: scene.log },
    async screen(messages) {
      const wereOpen = messages.filter((one) => mayStillRead(world, by, one));
      const areOpen = await scene.screen(wereOpen);
      const withheld = new Set(wereOpen.filter((_, i) => !areOpen[i]));
      return messages.map((one) => !withheld.has(one));
    },
  });
  const room: Room = {
    ...{ caller, by, hub, platform, activities: createActivities(), spaces: NO_SPACES },
    ...{ proofs: createProofs(platform), nodeId: '', correlationId: '', signal: null, trace: null },
    about: { version: '', startedAt: 0, plugins: [], heartbeatTtl: null, pageUrl: () => '' },
    webSessions: createWebSessions(platform, NO_SPACES),
    timings: () => [],
    instead: async () => notOfPast(`${operation.id} asks another operation`),
  };
  const handler = HANDLERS[operation.id as HandledId] as (
    room: Room,
    input: unknown,
  ) => Promise<object | Refusal>;
  const outcome = await handler(room, parsed.value);
  return 'refused' in outcome ? outcome : outputText(outcome);
}

function createPastCaller({ principal, space, isOwner }: PastCaller): Caller {
  return {
    ...{ principal, space, isOwner, transport: 'http', connectionId: '', clientVersion: null },
    ...{ mayMakeSpace: false, tokenId: null, credential: null, authMs: 0 },
    activity: createActivity(principal.id),
  };
}

/** The disk and chance of then are not on the record, and those of now would tell something else. */
function createPastPlatform({ at, digest }: PastScene): Platform {
  const none = (): never => {
    throw new Error('an operation of the past asked for chance or a secret');
  };
  return {
    now: () => at,
    elapsedMs: () => 0,
    after() {},
    digest,
    ...{ newId: none, newSecret: none },
    ...{ sealPassphrase: none, checkPassphrase: none },
    placeScope: async () => notOfPast('where files lay is not in the log: ask without a worktree'),
    schemas: { check: none, problem: none },
  };
}

const NO_SPACES: Spaces = {
  has: () => false,
  open: async () => notOfPast('other spaces have a past of their own'),
  enter: () => null,
  find: () => null,
  remove: async () => notOfPast('the past is read only'),
  onRemoved: () => () => {},
  list: () => [],
};
