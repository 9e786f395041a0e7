/**
 * The official ACP client on the pipes of a worker, through a routing session as the bus would put
 * it there: on everything that goes in, and required on everything that comes out.
 */
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import { spawnWorker, type WorkerProcessOptions } from './worker-process.ts';

export interface RoutedWorker {
  readonly child: ReturnType<typeof spawnWorker>;
  stderr(): string;
  /** A connection of its own inside the one process; null: without a routing session. */
  route(session: string | null): acp.Stream;
  /** What came out without a route to anybody. */
  readonly stray: readonly acp.AnyMessage[];
  /** Everything that came out. */
  readonly seen: readonly Record<string, unknown>[];
}

export function startRouted(
  args: readonly string[],
  options: WorkerProcessOptions = {},
): RoutedWorker {
  const child = spawnWorker(args, options);
  const wire = acp.ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout) as unknown as ReadableStream<Uint8Array>,
  );
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const routes = new Map<unknown, (message: acp.AnyMessage) => void>();
  const stray: acp.AnyMessage[] = [];
  const seen: Record<string, unknown>[] = [];
  const writer = wire.writable.getWriter();
  let count = 0;

  async function read(): Promise<void> {
    for await (const message of wire.readable as unknown as AsyncIterable<acp.AnyMessage>) {
      seen.push({ ...message });
      const { sessionId, _ext, ...bare } = message as unknown as Record<string, unknown>;
      const give = routes.get(sessionId);
      if (give === undefined) stray.push(message);
      else give(bare as unknown as acp.AnyMessage);
    }
  }
  read().catch(() => {});
  return {
    child,
    stray,
    seen,
    stderr: () => stderr,
    route(session) {
      // Ids are made different for each route, as the bus does.
      const ids = new Map<string, unknown>();
      const readable = new ReadableStream<acp.AnyMessage>({
        start(controller) {
          routes.set(session ?? undefined, (message) => {
            if ('method' in message) return controller.enqueue(message);
            const { id } = message as { id: string };
            const own = ids.get(id);
            ids.delete(id);
            controller.enqueue({ ...message, id: own } as acp.AnyMessage);
          });
        },
      });
      const writable = new WritableStream<acp.AnyMessage>({
        async write(message) {
          const top = session === null ? {} : { sessionId: session };
          const isRequest = 'id' in message && 'method' in message;
          if (!isRequest) return writer.write({ ...message, ...top });
          count += 1;
          ids.set(`b${count}`, message.id);
          await writer.write({ ...message, id: `b${count}`, ...top });
        },
      });
      return { readable, writable };
    },
  };
}
