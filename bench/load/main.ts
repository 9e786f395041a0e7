/**
 * The load process: `load/main.ts JOB`, a job as JSON in, its result as one JSON line out.
 *
 * A process of its own, so that making load costs the measured server nothing but the other core.
 * The same jobs drive the hub and every baseline. Whatever goes wrong ends the process with code 1.
 */
import { type BoardJob, board } from './board.ts';
import { type BusJob, bus } from './bus.ts';
import { type BusBystanderJob, type BystanderJob, busBystander, bystander } from './bystander.ts';
import { type ClaimsJob, claims } from './claims.ts';
import { type BusStoppedJob, busStopped, type DeadWorkerJob, deadWorker } from './dead-worker.ts';
import { type FloodJob, flood } from './flood.ts';
import { type HoldJob, hold } from './hold.ts';
import { type HostileJob, hostile } from './hostile.ts';
import { type HttpSendJob, httpSend } from './http-send.ts';
import { type LatencyJob, latency } from './latency.ts';
import { type RecvJob, recv } from './recv.ts';
import { type ReplayJob, replay } from './replay.ts';
import { type StormJob, storm } from './storm.ts';
import {
  type ChatJob,
  type ConnectsJob,
  chat,
  connects,
  type WireClaimsJob,
  wireClaims,
} from './synapse.ts';
import { type ThreadsJob, threads } from './threads.ts';
import { type WideJob, wide } from './wide.ts';

export type Job =
  | BoardJob
  | BusJob
  | BusStoppedJob
  | BystanderJob
  | ChatJob
  | ClaimsJob
  | ConnectsJob
  | DeadWorkerJob
  | BusBystanderJob
  | FloodJob
  | HoldJob
  | HostileJob
  | HttpSendJob
  | LatencyJob
  | RecvJob
  | ReplayJob
  | StormJob
  | ThreadsJob
  | WideJob
  | WireClaimsJob;

function run(job: Job): Promise<object> {
  switch (job.kind) {
    case 'board':
      return board(job);
    case 'bus':
      return bus(job);
    case 'claims':
      return claims(job);
    case 'dead-worker':
      return deadWorker(job);
    case 'bus-bystander':
      return busBystander(job);
    case 'bus-stopped':
      return busStopped(job);
    case 'bystander':
      return bystander(job);
    case 'hostile':
      return hostile(job);
    case 'flood':
      return flood(job);
    case 'hold':
      return hold(job);
    case 'latency':
      return latency(job);
    case 'recv':
      return recv(job);
    case 'replay':
      return replay(job);
    case 'storm':
      return storm(job);
    case 'http-send':
      return httpSend(job);
    case 'synapse-chat':
      return chat(job);
    case 'synapse-claims':
      return wireClaims(job);
    case 'synapse-connects':
      return connects(job);
    case 'threads':
      return threads(job);
    case 'wide':
      return wide(job);
  }
}

const result = await run(JSON.parse(process.argv[2] ?? '') as Job);
process.stdout.write(`${JSON.stringify(result)}\n`);
