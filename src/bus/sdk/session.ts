/** One session of the bus as an object: everything asked through it goes to the same worker. */
import type { BusNotification, Params } from './message.ts';
import type { NotificationSubscription, NotificationsOptions } from './notifications.ts';
import type { NotifyOptions, RequestOptions } from './request-options.ts';
import type { BusStream } from './stream.ts';

/** What a session needs of its bus. */
export interface SessionHost {
  request<T>(method: string, params?: Params, options?: RequestOptions): Promise<T>;
  stream<T>(method: string, params?: Params, options?: RequestOptions): BusStream<T>;
  notify(method: string, params?: Params, options?: NotifyOptions): boolean;
  subscribe(
    options: NotificationsOptions,
    accepts: (one: BusNotification) => boolean,
  ): NotificationSubscription;
  keep(sessionId: string, isUsed: boolean): void;
  forget(sessionId: string): void;
}

export interface Attached {
  readonly sessionId: string;
  /** Notifications that were kept, and have been given now. */
  readonly missed: number;
  /** Notifications that are gone, because there was no room for them. */
  readonly dropped: number;
  /** The number of the last one. */
  readonly last: number;
}

export class BusSession {
  readonly id: string;
  private readonly host: SessionHost;

  constructor(host: SessionHost, id: string) {
    this.host = host;
    this.id = id;
    host.keep(id, false);
  }

  request<T = unknown>(method: string, params?: Params, options?: RequestOptions): Promise<T> {
    return this.host.request<T>(method, params, { ...options, sessionId: this.id });
  }

  stream<T = unknown>(method: string, params?: Params, options?: RequestOptions): BusStream<T> {
    return this.host.stream<T>(method, params, { ...options, sessionId: this.id });
  }

  notify(method: string, params?: Params, options?: NotifyOptions): boolean {
    return this.host.notify(method, params, { ...options, sessionId: this.id });
  }

  /** Notifications of this session only. */
  notifications(options: NotificationsOptions = {}): NotificationSubscription {
    return this.host.subscribe(options, ({ sessionId }) => sessionId === this.id);
  }

  /** Joins a session that another client uses, or that was left, and takes what was missed. */
  async attach(): Promise<Attached> {
    const attached = await this.host.request<Attached>('stdio_bus/attach', { sessionId: this.id });
    this.host.keep(this.id, true);
    return attached;
  }

  /** The bus forgets the session; the next use of its id may go to another worker. */
  async close(): Promise<void> {
    await this.host.request('stdio_bus/close', { sessionId: this.id });
    this.host.forget(this.id);
  }
}
