/**
 * Notifications to listeners: callbacks first, then subscribers, each with a bounded queue and
 * a copy of its own. A subscriber that is too slow loses the newest or is ended, as it chose, and
 * no other is affected. Ending drains: what was queued is still read.
 */
import { InvalidArgumentError } from './errors.ts';
import { ItemQueue } from './item-queue.ts';
import type { BusNotification } from './message.ts';
import type { OverflowPolicy } from './states.ts';

export interface NotificationsOptions {
  readonly maxQueue?: number;
  readonly overflow?: OverflowPolicy;
}

export interface NotificationSubscription
  extends AsyncIterableIterator<BusNotification, undefined>,
    AsyncDisposable {
  /** How many were lost to a full queue. */
  readonly dropped: number;
  readonly isClosed: boolean;
  /** Takes no more; what is queued can still be read. Safe to call twice. */
  close(): void;
  next(): Promise<IteratorResult<BusNotification, undefined>>;
  return(): Promise<IteratorResult<BusNotification, undefined>>;
  [Symbol.asyncIterator](): NotificationSubscription;
}

const QUEUE_DEFAULT = 256;
const QUEUE_MAX = 1_048_576;
export const SUBSCRIBERS_MAX = 1_024;

class Subscription extends ItemQueue<BusNotification> implements NotificationSubscription {
  dropped = 0;
  private readonly maxQueue: number;
  private readonly overflow: OverflowPolicy;
  private readonly onClosed: (self: Subscription) => void;

  constructor(options: Required<NotificationsOptions>, onClosed: (self: Subscription) => void) {
    super(() => onClosed(this));
    this.maxQueue = options.maxQueue;
    this.overflow = options.overflow;
    this.onClosed = onClosed;
  }

  get isClosed(): boolean {
    return this.isEnded;
  }

  offer(notification: BusNotification): void {
    if (this.size < this.maxQueue) {
      this.push({ ...notification });
      return;
    }
    this.dropped++;
    if (this.overflow === 'close') this.close();
  }

  close(): void {
    this.end();
    this.onClosed(this);
  }
}

export interface Subscribers {
  open(
    options: NotificationsOptions,
    accepts: (one: BusNotification) => boolean,
  ): NotificationSubscription;
  tell(notification: BusNotification): void;
  closeAll(): void;
}

export function createSubscribers(): Subscribers {
  const all = new Map<Subscription, (one: BusNotification) => boolean>();
  return {
    open(options, accepts) {
      const { maxQueue = QUEUE_DEFAULT, overflow = 'drop' } = options;
      if (!Number.isInteger(maxQueue) || maxQueue < 1 || maxQueue > QUEUE_MAX) {
        throw new InvalidArgumentError(
          `maxQueue is ${maxQueue}; use a whole number from 1 to ${QUEUE_MAX}`,
        );
      }
      if (overflow !== 'drop' && overflow !== 'close') {
        throw new InvalidArgumentError(`overflow is "${String(overflow)}"; use "drop" or "close"`);
      }
      if (all.size >= SUBSCRIBERS_MAX) {
        throw new InvalidArgumentError(
          `${SUBSCRIBERS_MAX} subscriptions are open; close some before you open more`,
        );
      }
      const one = new Subscription({ maxQueue, overflow }, (self) => all.delete(self));
      all.set(one, accepts);
      return one;
    },
    tell(notification) {
      for (const [one, accepts] of all) if (accepts(notification)) one.offer(notification);
    },
    closeAll() {
      for (const one of [...all.keys()]) one.close();
    },
  };
}
