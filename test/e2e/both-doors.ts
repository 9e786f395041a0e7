/**
 * One way of asking for the two doors that stay apart: HTTP and WebSocket. Every answer is held
 * against the shape its operation declares, and a key that is not declared is an error.
 */
import { expect } from 'vitest';
import { OPERATIONS, type OperationId } from '../../src/wire/operations/table.ts';
import { openRpcSocket, type RpcSocket } from './rpc-socket.ts';
import type { Json, RunningHub } from './running-hub.ts';

export type DoorName = 'HTTP' | 'WebSocket';
export const DOORS: readonly DoorName[] = ['HTTP', 'WebSocket'];

/** An agent by its name; null is the owner. */
type Who = string | null;

export interface Door {
  readonly name: DoorName;
  /** The answer, in exactly its declared shape; a refusal is an error. */
  ask(agent: Who, id: OperationId, input?: unknown): Promise<Json>;
  /** The error envelope; an answer is an error, and so is a changed log, but for the record of it. */
  refusal(agent: Who, id: OperationId, input?: unknown, how?: 'waits' | 'recorded'): Promise<Json>;
  /** The agent's socket, opened with its first use. */
  socket(agent: Who): Promise<RpcSocket>;
  close(): Promise<void>;
}

export function createDoor(hub: RunningHub, name: DoorName): Door {
  const sockets = new Map<Who, Promise<RpcSocket>>();
  const headersOf = (agent: Who): Record<string, string> =>
    agent === null ? { authorization: `Bearer ${hub.owner}` } : hub.as(agent);
  const socket = (agent: Who): Promise<RpcSocket> => {
    const known = sockets.get(agent) ?? openRpcSocket(hub.url, headersOf(agent));
    sockets.set(agent, known);
    return known;
  };

  async function call(agent: Who, id: string, input: unknown): Promise<Json> {
    if (name === 'WebSocket') {
      const { result, error } = await (await socket(agent)).call(id, input);
      return error === undefined ? { result } : { error: error.data };
    }
    const { status, body } = await hub.post(id, input, headersOf(agent));
    return status === 200 ? { result: body } : { error: body };
  }

  return {
    name,
    socket,
    async ask(agent, id, input = {}) {
      const { result, error } = await call(agent, id, input);
      if (error !== undefined) throw new Error(`${id} was refused: ${JSON.stringify(error)}`);
      expect(OPERATIONS[id].output.parse(result), `the shape of ${id}`).toEqual(result);
      return result;
    },
    async refusal(agent, id, input = {}, how) {
      const before = await hub.mark();
      const { result, error } = await call(agent, id, input);
      if (error === undefined) throw new Error(`${id} was not refused: ${JSON.stringify(result)}`);
      // One that waited for a while was in a queue meanwhile; of one on the record the record tells.
      if (how === undefined) expect(await hub.mark(), `${id} changed something`).toBe(before);
      return error;
    },
    async close() {
      for (const one of sockets.values()) await (await one).close();
    },
  };
}
