/**
 * A reader of server-sent events over a plain socket. It parses what comes as it comes, keeps the
 * last id for resuming, and can stop reading or break off in the middle, as real readers do.
 */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { within } from './deadline.ts';
import type { Headers, Json } from './running-hub.ts';

export interface ServerEvent {
  readonly id: string | null;
  readonly event: string;
  readonly body: Json;
}

export interface EventStream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly events: readonly ServerEvent[];
  readonly comments: readonly string[];
  /** The next event nobody has taken yet. */
  next(event?: string): Promise<ServerEvent>;
  comment(isWanted: (text: string) => boolean): Promise<string>;
  /** The body, when the hub refused instead of streaming. */
  refusal(): Promise<Json>;
  pause(): void;
  resume(): void;
  readonly ended: Promise<void>;
  close(): void;
}

export async function openEventStream(
  url: string,
  headers: Headers = {},
  query = '',
): Promise<EventStream> {
  const sent: ClientRequest = request(`${url}/v1/stream${query}`, {
    agent: false,
    headers: headers as Record<string, string>,
  });
  sent.end();
  const response = await within(
    'the head of a stream',
    new Promise<IncomingMessage>((resolve, reject) => {
      sent.on('response', resolve);
      sent.on('error', reject);
    }),
  );
  sent.on('error', () => {});
  const events: ServerEvent[] = [];
  const comments: string[] = [];
  const waiting = new Set<() => void>();
  let taken = 0;
  let text = '';
  const ended = new Promise<void>((resolve) => response.on('close', resolve));
  response.on('error', () => {});
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    text += chunk;
    for (let at = text.indexOf('\n\n'); at >= 0; at = text.indexOf('\n\n')) {
      const block = text.slice(0, at);
      text = text.slice(at + 2);
      if (block.startsWith(':')) comments.push(block);
      else events.push(parseEvent(block));
    }
    for (const look of [...waiting]) look();
  });

  function wait<T>(what: string, find: () => T | undefined): Promise<T> {
    let look = (): void => {};
    const found = new Promise<T>((resolve) => {
      look = () => {
        const one = find();
        if (one !== undefined) resolve(one);
      };
      waiting.add(look);
      look();
    });
    return within(what, found).finally(() => waiting.delete(look));
  }

  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    comments,
    next: (event) =>
      wait(`a ${event ?? 'server-sent'} event`, () => {
        const at = events.findIndex(
          (one, i) => i >= taken && (event === undefined || one.event === event),
        );
        if (at >= 0) taken = at + 1;
        return events[at];
      }),
    comment: (isWanted) => wait('a comment', () => comments.find(isWanted)),
    async refusal() {
      await within('the end of a refusal', ended);
      return JSON.parse(text);
    },
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    ended,
    close: () => sent.destroy(),
  };
}

function parseEvent(block: string): ServerEvent {
  const fields = new Map(
    block.split('\n').map((line) => {
      const at = line.indexOf(': ');
      return [line.slice(0, at), line.slice(at + 2)] as const;
    }),
  );
  return {
    id: fields.get('id') ?? null,
    event: fields.get('event') ?? 'message',
    body: JSON.parse(fields.get('data') ?? 'null'),
  };
}
