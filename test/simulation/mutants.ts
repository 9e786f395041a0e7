/**
 * Hubs that err, each in one way a real mistake would: what the simulator must
 * notice, or its silence means nothing.
 */

import type { Command } from '../../src/core/law/world.ts';
import { parseMessageId } from '../../src/core/talk/message-id.ts';
import type { enterThread, joinThread } from '../../src/core/threads/reply.ts';
import { UNMARKED } from '../../src/core/threads/thread-index.ts';
import type { Bundle, FeedSink } from '../../src/hub/feed.ts';
import type { Hub } from '../../src/hub/hub.ts';
import type { openReplica } from '../../src/hub/replica.ts';
import type { envelopeFieldsText } from '../../src/server/desk/envelope.ts';
import { FORGETFUL, type ForgetfulParts, inOneSlice } from './forgetful.ts';
import { TURN_MUTANTS, type TurnParts } from './turn-mutants.ts';

type Mutant = (hub: Hub) => Hub;

/** Changes commands before the hub sees them, or answers before the caller does. */
function between(
  hub: Hub,
  change: (command: Command) => Command,
  answer: (command: Command, outcome: unknown) => unknown = (_, outcome) => outcome,
): Hub {
  const mutant = Object.create(hub) as Hub;
  mutant.submit = async (command) =>
    answer(command, await hub.submit(change(command) as typeof command)) as never;
  return mutant;
}

function listening(
  hub: Hub,
  deliver: (sink: FeedSink, bundle: Bundle, count: number) => boolean,
): Hub {
  const mutant = Object.create(hub) as Hub;
  let count = 0;
  mutant.openFeed = (options, sink) =>
    hub.openFeed(options, {
      deliver: (bundle) => deliver(sink, bundle, ++count),
      ready: () => sink.ready(),
      end: (reason) => sink.end(reason),
    });
  return mutant;
}

export const MUTANTS: Readonly<Record<string, Mutant>> = {
  'forgets the fence': (hub) =>
    between(hub, (command) =>
      'epoch' in command && command.epoch !== null && !command.type.startsWith('turn.')
        ? ({ ...command, epoch: null } as typeof command)
        : command,
    ),
  'tells a loser that it won': (hub) =>
    between(
      hub,
      (command) => command,
      (command, outcome) => {
        const { refused } = outcome as { refused?: string };
        if (command.type !== 'claim.take' || refused !== 'claim.overlap') return outcome;
        const { id, scope } = command;
        return { claim: { id, scope, epoch: 1e9, checkpoint: null }, isRenewal: false };
      },
    ),
  'does not say who holds a claim': (hub) =>
    between(
      hub,
      (command) => command,
      (command, outcome) => {
        const refusal = outcome as { refused?: string; detail?: object };
        if (command.type !== 'claim.take' || refusal.refused === undefined) return outcome;
        return { ...refusal, detail: {} };
      },
    ),
  'forgets idempotency keys': (hub) =>
    between(hub, (command) =>
      command.type === 'message.send' ? { ...command, key: null } : command,
    ),
  'lets a stranger mark a thread': (hub) =>
    between(hub, (command) =>
      command.type === 'thread.mark'
        ? { ...command, root: { ...command.root, sender: command.by.id } }
        : command,
    ),
  'does not let those mark a thread whom its root names': (hub) =>
    between(hub, (command) =>
      command.type === 'thread.mark'
        ? { ...command, root: { ...command.root, owners: [] } }
        : command,
    ),
  'says that a thread is marked when it refused': (hub) =>
    between(
      hub,
      (command) => command,
      (command, outcome) => {
        const { refused } = outcome as { refused?: string };
        return command.type === 'thread.mark' && refused === 'mark.not-author'
          ? { marks: UNMARKED, isChanged: false }
          : outcome;
      },
    ),
  'answers a drain with what it answered before': (hub) => {
    const before = new Map<string, unknown>();
    return between(
      hub,
      (command) => command,
      (command, outcome) => {
        if (command.type !== 'inbox.drain') return outcome;
        const stale = before.get(command.by.id) ?? outcome;
        before.set(command.by.id, outcome);
        return stale;
      },
    );
  },
  'acknowledges a send it refused': (hub) =>
    between(
      hub,
      (command) => command,
      (command, outcome) =>
        command.type === 'message.send' && 'refused' in (outcome as object)
          ? { position: 0, seq: 1, at: command.at, depth: 0, limit: 1 }
          : outcome,
    ),
  'hands out what has expired': (hub) =>
    between(hub, (command) =>
      command.type === 'inbox.drain' ? { ...command, expired: new Set() } : command,
    ),
  'says that nothing was changed when it does not know': (hub) =>
    between(
      hub,
      (command) => command,
      (_, outcome) => {
        const { refused } = outcome as { refused?: string };
        return refused === 'store.unknown' ? { refused: 'store.unavailable' } : outcome;
      },
    ),
  'answers before it is durable': (hub) => {
    const mutant = Object.create(hub) as Hub;
    mutant.submit = async (command) => {
      if (command.type !== 'message.send') return hub.submit(command);
      hub.submitThen(command, () => {});
      return { position: hub.stats.entries, seq: 1, at: command.at, depth: 0, limit: 1 } as never;
    };
    return mutant;
  },
  'shows a question what is not durable': (hub) => {
    const mutant = Object.create(hub) as Hub;
    let world: unknown = null;
    mutant.ask = (question) => {
      if (world !== null) return Promise.resolve(question(world as never));
      return hub.ask((now) => {
        world = now;
        return question(now);
      });
    };
    return mutant;
  },
  'repeats a push': (hub) =>
    listening(hub, (sink, bundle, count) => {
      if (count % 5 === 0) sink.deliver(bundle);
      return sink.deliver(bundle);
    }),
  'skips a push': (hub) =>
    listening(hub, (sink, bundle, count) => (count % 5 === 0 ? true : sink.deliver(bundle))),
  'pushes out of order': (hub) =>
    listening(hub, (sink, bundle) =>
      sink.deliver({ ...bundle, messages: bundle.messages.toReversed() }),
    ),
  'cuts off a reader that keeps up': (hub) =>
    listening(hub, (sink, bundle, count) => (sink.deliver(bundle) ? count % 5 !== 0 : false)),
};

/** Parts of a hub that err, each in place of the module it is exported by. */
export const PART_MUTANTS: Readonly<
  Record<string, { readonly path: string; mutate(part: Parts): Partial<Parts> }>
> = {
  'publishes what it reads back twice': {
    path: '../../src/hub/replica.ts',
    mutate: (part) => ({
      openReplica: (log, onDurable, onTrouble) =>
        part.openReplica(
          log,
          (...durable) => {
            onDurable(...durable);
            onDurable(...durable);
          },
          onTrouble,
        ),
    }),
  },
  'does not publish what another writer stored': {
    path: '../../src/hub/replica.ts',
    mutate: (part) => ({
      openReplica: (log, _, onTrouble) => part.openReplica(log, () => {}, onTrouble),
    }),
  },
  'decides again without what another writer stored': {
    path: '../../src/hub/replica.ts',
    mutate: (part) => ({
      async openReplica(log, onDurable, onTrouble) {
        const replica = await part.openReplica(log, onDurable, onTrouble);
        return Object.create(replica, { rewind: { value: async () => {} } });
      },
    }),
  },
  'takes a snapshot at the wrong position': {
    path: '../../src/core/law/snapshot.ts',
    mutate(part) {
      let before: object | null = null;
      return {
        beginFreeze(world) {
          const frozen = JSON.parse(part.freezeWorld(world));
          const text = JSON.stringify({ ...(before ?? frozen), length: world.length });
          before = frozen;
          return inOneSlice(text);
        },
      };
    },
  },
  'takes replies to a closed thread': {
    path: '../../src/core/threads/reply.ts',
    mutate: (part) => ({
      joinThread(world, channel, command) {
        const joined = part.joinThread(world, channel, command);
        if (!('refused' in joined) || joined.refused !== 'thread.closed') return joined;
        return { root: parseMessageId(String(joined.detail?.thread)), opened: null };
      },
    }),
  },
  'puts a reply in a thread of its own': {
    path: '../../src/core/threads/reply.ts',
    mutate: (part) => ({
      enterThread: (channel, seq, event) =>
        part.enterThread(channel, seq, event.replyTo === undefined ? event : { post: true }),
    }),
  },
  'has a desk that shows another body': {
    path: '../../src/server/desk/envelope.ts',
    mutate: (part) => ({
      envelopeFieldsText: (message) =>
        part.envelopeFieldsText(message).replace('"body":{', '"body":{"other":true,'),
    }),
  },
  ...TURN_MUTANTS,
  ...FORGETFUL,
};

interface Parts extends ForgetfulParts, TurnParts {
  joinThread: typeof joinThread;
  enterThread: typeof enterThread;
  openReplica: typeof openReplica;
  envelopeFieldsText: typeof envelopeFieldsText;
}
