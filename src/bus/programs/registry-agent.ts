/**
 * One agent of the registry as a process: started at its first message, in its own process group
 * and with an environment of its own, gone with us. What it is given before it runs waits; when it
 * goes down the router is told how many of its messages it can have seen.
 */

import { type ByteLine, messageOf } from '../process/byte-line.ts';
import { workerEnvironment } from '../process/environment.ts';
import { type JsonObject, parseObject } from '../process/json-object.ts';
import { openWorker } from '../process/open-worker.ts';
import type { WorkerSpec } from '../process/spec.ts';
import type { Down, Worker } from '../process/worker.ts';
import type { Launch } from './registry-file.ts';

const LINE_BYTES_MAX = 64 * 1024 * 1024;
const STRAYS_MAX = 100;
const STDERR_LINES_KEPT = 50;

export interface AgentProcess {
  /** Answers the number of the message: 1, 2, 3. */
  send(message: JsonObject): number;
  stop(graceMs: number): Promise<void>;
}

export interface AgentEvents {
  onMessage(message: JsonObject): void;
  /** `handedOver`: messages numbered above it were never given to the process. */
  onDown(down: Down, hasStarted: boolean): void;
  note(text: string): void;
}

export interface AgentEnvironment {
  /** Names taken over from our own environment, beyond what any program needs. */
  readonly allow: readonly string[];
  readonly keys: Readonly<Record<string, string>>;
}

export function startAgent(
  id: string,
  launch: Launch,
  environment: AgentEnvironment,
  events: AgentEvents,
): AgentProcess {
  let waiting: ByteLine[] = [];
  let count = 0;
  const set = { ...launch.env, ...environment.keys };
  const spec: WorkerSpec = {
    ...{ pool: id, command: launch.command, args: launch.args, cwd: null },
    env: workerEnvironment(process.env, environment.allow, set),
    restart: {
      ...{ policy: 'never', restartsMax: 0, windowMs: 60_000 },
      ...{ waitMsMin: 100, waitMsMax: 100, healthyAfterMs: 60_000 },
    },
    ...{ ready: null, ping: null, hangMs: null },
    ...{ lineBytesMax: LINE_BYTES_MAX, straysMax: STRAYS_MAX, stderrLinesKept: STDERR_LINES_KEPT },
  };
  const worker: Worker = openWorker(spec, 0, {
    onReady() {
      for (const line of waiting) worker.send(line);
      waiting = [];
    },
    onDown(_, down) {
      waiting = [];
      events.onDown(down, worker.starts > 0);
    },
    onLines(_, lines) {
      for (const line of lines) {
        const message = parseObject(line);
        if (message === null) worker.stray(line);
        else events.onMessage(message);
      }
    },
    onNote: (_, { text }) => events.note(`${id}: ${text}`),
  });
  worker.start();
  return {
    send(message) {
      const line = messageOf(message);
      if (worker.state === 'ready') worker.send(line);
      else waiting.push(line);
      count += 1;
      return count;
    },
    stop: (graceMs) => worker.stop(graceMs),
  };
}
