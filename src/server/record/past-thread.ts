/**
 * The thread that looks back. It opens the log beside the hub's own opening, to read, and answers one
 * question after the other; of a log that only the hub's thread can reach it asks for the entries.
 */
import type { MessagePort } from 'node:worker_threads';
import type { PastLog } from '../../hub/past-hub.ts';
import { type Log, LogError } from '../../log/log.ts';
import { createPast, type PastOfLog } from './past.ts';
import type { FromPast, PastPlace, ToPast } from './past-link.ts';

const READ_BYTES = 1 << 20;

/** How a log is opened by its URL, to be read. */
export type OpenLog = (url: string) => Promise<Log>;

export function runPastThread(port: MessagePort, openLog: OpenLog): void {
  let place = '';
  let past: PastOfLog | null = null;
  let close: () => Promise<void> = async () => {};
  let isCalledOff = false;
  /** What the hub's thread was asked for last; one thing at a time. */
  let heard: (message: ToPast) => void = () => {};

  const say = (message: FromPast): void => port.postMessage(message);
  function askHub<T>(message: FromPast, pick: (answer: ToPast) => T): Promise<T> {
    return new Promise((resolve) => {
      heard = (answer) => resolve(pick(answer));
      say(message);
    });
  }

  const remoteEntries = (from: number, bytesMax: number): Promise<readonly string[]> =>
    askHub({ read: { from, bytesMax } }, (answer) => ('entries' in answer ? answer.entries : []));

  const remote: PastLog = {
    async *read(from) {
      for (let first = from; ; ) {
        const entries = await remoteEntries(first, READ_BYTES);
        if (entries.length === 0) return;
        yield { first, entries };
        first += entries.length;
      }
    },
    async at(positions) {
      const found: string[] = [];
      for (const position of positions) found.push(...(await remoteEntries(position, 1)));
      return found;
    },
    loadSnapshot: async () => null,
  };

  /** One log is open at a time: what is known of another is let go. */
  async function pastOf({ space, url }: PastPlace): Promise<PastOfLog> {
    const wanted = `${space} ${url}`;
    if (past !== null && place === wanted) return past;
    await close();
    past = null;
    const log = url === null ? null : await openLog(url);
    close = async () => log?.close();
    place = wanted;
    past = createPast(log ?? remote);
    return past;
  }

  async function answer(ask: Extract<ToPast, { ask: unknown }>['ask']): Promise<FromPast> {
    try {
      const looked = await pastOf(ask);
      if ('span' in ask) return { said: await looked.span(ask.span.asked, ask.span.length) };
      const help = {
        isCalledOff: () => isCalledOff,
        screen: (screen: Extract<FromPast, { screen: unknown }>['screen']) =>
          screen.length === 0
            ? Promise.resolve([])
            : askHub({ screen }, (shown) => ('shown' in shown ? shown.shown : [])),
      };
      return { said: await looked.at(ask.at, help) };
    } catch (cause) {
      const message = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
      return { failed: { message, isStore: cause instanceof LogError } };
    }
  }

  port.on('message', (message: ToPast) => {
    if ('callOff' in message) isCalledOff = true;
    else if ('ask' in message) {
      isCalledOff = false;
      void answer(message.ask).then(say);
    } else heard(message);
  });
}
