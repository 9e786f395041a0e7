/**
 * Reads another Node process's memory through its inspector, after a full collection.
 *
 * What is left after the collection is what the process really holds; without it the figure
 * would mostly say when the collector last ran.
 */
import { once } from 'node:events';
import { WebSocket } from 'ws';

export interface Memory {
  readonly rss: number;
  /** The JavaScript heap and the buffers it owns. */
  readonly heap: number;
}

export interface Inspector extends AsyncDisposable {
  readMemory(): Promise<Memory>;
}

export async function openInspector(address: string): Promise<Inspector> {
  const socket = new WebSocket(address);
  await once(socket, 'open');
  let nextId = 1;
  async function call(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const id = nextId++;
    socket.send(JSON.stringify({ id, method, params }));
    for (;;) {
      const [bytes] = (await once(socket, 'message')) as [Buffer];
      const reply = JSON.parse(String(bytes));
      if (reply.id === id) return reply.result;
    }
  }
  return {
    async readMemory() {
      // Twice: buffers freed by the first pass give their memory back in the second.
      await call('HeapProfiler.collectGarbage');
      await call('HeapProfiler.collectGarbage');
      const expression = 'JSON.stringify(process.memoryUsage())';
      const { result } = (await call('Runtime.evaluate', { expression })) as {
        result: { value: string };
      };
      const usage = JSON.parse(result.value) as NodeJS.MemoryUsage;
      return { rss: usage.rss, heap: usage.heapUsed + usage.external };
    },
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  };
}
