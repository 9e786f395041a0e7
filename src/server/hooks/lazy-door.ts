/**
 * The hook door with what is behind it: made when the first hook comes, or when the hub has time, because
 * a hub that nobody's hooks speak to needs none of it. From then on it hears what is sent in every
 * space whose agents came by.
 */
import { randomUUID } from 'node:crypto';
import type { Desk } from '../desk/desk.ts';
import type { ReportFailure } from '../desk/failure.ts';
import type { Spaces } from '../desk/spaces.ts';
import type { HookHandler } from './door.ts';
import type { HookRoom, Sent } from './hook-room.ts';

export interface HookDoorOptions {
  readonly desk: Desk;
  readonly spaces: Spaces;
  readonly dir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long the waking of idle agents waits, for tests. */
  readonly wake: WakeTimes | undefined;
  /** For a mistake in a person's settings. */
  warn(line: string): void;
  readonly report: ReportFailure;
}

export interface WakeTimes {
  readonly settleMs?: number;
  readonly confirmMs?: number;
}

export interface HookDoor {
  readonly handle: HookHandler;
  /** Begins to load what the first hook would wait for. */
  prepare(): void;
  close(): Promise<void>;
}

interface Opened {
  readonly room: HookRoom;
  readonly handle: HookHandler;
}

export function createHookDoor(options: HookDoorOptions): HookDoor {
  const { desk, spaces, dir, env, warn, report } = options;
  const followed = new Map<string, () => void>();
  let opened: Promise<Opened> | null = null;
  let isClosed = false;

  async function open(): Promise<Opened> {
    const [{ openHookRoom }, { createHarnessHub }, { createHookHandler }] = await Promise.all([
      import('./hook-room.ts'),
      import('./hub.ts'),
      import('./door.ts'),
    ]);
    const room = await openHookRoom({
      dir,
      hub: createHarnessHub(desk, spaces),
      env,
      warn,
      report,
      ...options.wake,
    });
    for (const space of room.spaces) follow(space, room);
    return { room, handle: createHookHandler(room) };
  }

  function follow(space: string, room: HookRoom): void {
    const hub = followed.has(space) || isClosed ? null : spaces.find(space);
    if (hub === null) return;
    const stop = hub.watch.events((_world, _first, events) => {
      const sent: Sent[] = [];
      for (const event of events) {
        if (event.type === 'message.sent' && event.held === undefined) {
          sent.push({ by: event.by, atMs: event.at });
        } else if (event.type === 'message.reviewed' && event.isReleased) {
          sent.push({ by: null, atMs: event.at });
        }
      }
      if (sent.length > 0) room.onSent(space, sent);
    });
    followed.set(space, stop);
  }

  return {
    async handle(visit) {
      opened ??= open();
      try {
        const { room, handle } = await opened;
        follow(visit.caller.space, room);
        return await handle(visit);
      } catch (cause) {
        const correlationId = randomUUID();
        report('a hook was met with silence', cause, correlationId);
        return new Response(null, { status: 204, headers: { 'x-correlation-id': correlationId } });
      }
    },
    prepare() {
      opened ??= open();
      opened.catch((cause) => report('the hook door does not open', cause));
    },
    async close() {
      isClosed = true;
      for (const stop of followed.values()) stop();
      const { room } = (await opened?.catch(() => null)) ?? {};
      await room?.close();
    },
  };
}
