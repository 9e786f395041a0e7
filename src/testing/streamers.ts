/**
 * Listeners that drop, are slow, and come back: one that resumes from the last
 * position it saw and must see everything once; one that starts from its inbox and
 * must see everything at least once; and an observer of named channels.
 */
import { isRefusal } from '../core/law/decider.ts';
import { createMatcher } from '../core/law/glob.ts';
import type { Principal } from '../core/law/principal.ts';
import type { Bundle, Feed } from '../hub/feed.ts';
import type { FeedOptions } from '../hub/feed-page.ts';
import type { ModelMessage } from './model.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import type { Stage } from './stage.ts';
import { createPrincipal } from './story.ts';

export interface Streamers {
  readonly openCount: number;
  act(): void;
  /** True when nothing is left to be seen; a hub at rest must get there. */
  isComplete(): boolean;
  check(): void;
  wasShown(agent: string, position: number): boolean;
  /** Everybody listens and nobody is slow any more. */
  calm(): void;
}

interface Streamer {
  readonly by: Principal;
  readonly patterns: readonly string[];
  readonly channels: readonly string[] | null;
  readonly isFromInbox: boolean;
  /** Subscribed, and from which position on it must see everything; -1 before. */
  start: number;
  last: number;
  readonly seen: number[];
  readonly seenSet: Set<number>;
  feed: Feed | null;
  /** Where it listens. */
  process: SimulatedProcess | null;
  isSlow: boolean;
}

export function createStreamers(stage: Stage): Streamers {
  const { chance, model } = stage;
  const cast = [
    createStreamer(createPrincipal('sam'), ['a', 'team/*'], null, false),
    createStreamer(createPrincipal('sue'), ['*'], null, true),
    createStreamer(
      createPrincipal('spy', { kind: 'observer' }),
      ['a', 'b', 'sox/presence'],
      ['[ab]', 'sox/presence'],
      false,
    ),
  ];
  stage.onEnd((process) => {
    for (const one of cast) if (one.process === process) one.feed = null;
  });

  /** Follows its channels for good: what it must see is then what is stored after that. */
  function prepare(one: Streamer): void {
    stage.begin(`${one.by.id} subscribes`, async (hub) => {
      if (one.channels === null) {
        for (const pattern of one.patterns) {
          const answer = await hub.submit({
            type: 'subscription.add',
            by: one.by,
            at: hub.stamp(),
            pattern,
          });
          if (isRefusal(answer)) return;
        }
      }
      const length = await hub.ask((world) => ({ value: world.length }));
      if (isRefusal(length) || length.value === 0 || one.start >= 0) return;
      one.start = length.value - 1;
      one.last = one.start;
    });
  }

  function connect(one: Streamer): void {
    const process = chance.pick(stage.processes);
    const { hub, life } = process;
    if (one.feed !== null || one.start < 0 || hub === null || process.isPaused) return;
    const from = one.isFromInbox ? 'inbox' : one.last;
    const options: FeedOptions = { by: one.by, from, channels: one.channels };
    const now = new Set<number>();
    let feed: Feed | null = null;
    stage.note(`${process.name}: ${one.by.id} listens from ${from}`);
    const opened = hub.openFeed(options, {
      deliver(bundle) {
        if (life !== process.life) return false;
        if (one.isSlow) return false;
        take(one, bundle, now);
        return true;
      },
      ready: () => new Promise((resolve) => void stage.clock.after(chance.int(0, 50), resolve)),
      end(reason) {
        if (life !== process.life) return;
        stage.note(`${one.by.id} is cut off: ${reason}`);
        if (one.feed === feed) one.feed = null;
        if (reason === 'slow_reader' && !one.isSlow)
          stage.fail(`${one.by.id} was cut off without being slow`);
      },
    });
    if (isRefusal(opened)) return;
    feed = opened;
    one.feed = opened;
    one.process = process;
  }

  function take(one: Streamer, bundle: Bundle, now: Set<number>): void {
    stage.learn();
    for (const { position, event } of bundle.messages) {
      const stored = model.messages.find((message) => message.position === position);
      const name = `${one.by.id} was shown ${position}`;
      if (
        stored === undefined ||
        JSON.stringify(stored.body) !== JSON.stringify(JSON.parse(event.body))
      ) {
        return stage.fail(`${name}, which is not stored like that`);
      }
      if (now.has(position)) stage.fail(`${name} twice by one feed`);
      if (!one.isFromInbox && one.seenSet.has(position)) stage.fail(`${name} twice`);
      if (!one.isFromInbox && position <= one.last && !stored.wasHeld)
        stage.fail(`${name} after ${one.last}`);
      if (stored.hold !== 'none') stage.fail(`${name}, which is ${stored.hold}`);
      if (!isDue(one, stored)) stage.fail(`${name}, which is not for it`);
      now.add(position);
      one.seen.push(position);
      one.seenSet.add(position);
      one.last = Math.max(one.last, position);
    }
  }

  function isDue(one: Streamer, message: ModelMessage): boolean {
    if (one.channels === null) return model.wasOwed(message, one.by.id);
    return one.channels.some((pattern) => createMatcher(pattern)(message.channel));
  }

  function missing(one: Streamer): ModelMessage[] {
    if (one.start < 0) return [];
    return model.messages.filter(
      (message) =>
        message.position > one.start &&
        !message.wasHeld &&
        isDue(one, message) &&
        !one.seenSet.has(message.position),
    );
  }

  function commit(one: Streamer): void {
    if (!one.isFromInbox || one.seen.length === 0) return;
    const through = one.last;
    stage.begin(`${one.by.id} commits ${through}`, async (hub) => {
      await hub.submit({ type: 'inbox.commit', by: one.by, at: hub.stamp(), through });
    });
  }

  function act(): void {
    const one = chance.pick(cast);
    if (one.start < 0) return prepare(one);
    const what = chance.int(0, 9);
    if (what < 6) connect(one);
    else if (what === 6) one.feed?.close();
    else if (what === 7) one.isSlow = !one.isSlow;
    else commit(one);
  }

  return {
    get openCount() {
      return cast.filter(({ feed }) => feed !== null).length;
    },
    act,
    calm() {
      for (const one of cast) {
        one.isSlow = false;
        if (one.start < 0) prepare(one);
        else connect(one);
      }
    },
    isComplete: () =>
      cast.every((one) => one.start >= 0 && one.feed !== null && missing(one).length === 0),
    check() {
      for (const one of cast) {
        const [first] = missing(one);
        if (first !== undefined)
          stage.fail(`${one.by.id} never saw ${first.position} on ${first.channel}`);
      }
    },
    wasShown: (agent, position) =>
      cast.some((one) => one.by.id === agent && one.seenSet.has(position)),
  };
}

function createStreamer(
  by: Principal,
  patterns: readonly string[],
  channels: readonly string[] | null,
  isFromInbox: boolean,
): Streamer {
  return {
    by,
    patterns,
    channels,
    isFromInbox,
    start: -1,
    last: -1,
    seen: [],
    seenSet: new Set(),
    feed: null,
    process: null,
    isSlow: false,
  };
}
