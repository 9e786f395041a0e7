/**
 * One bus behind one of four doors: the real `synod bus` over stdio, a Unix socket or TCP, or the
 * router embedded in this process with real workers and a peer of our own. A case speaks through
 * `Talk` and cannot tell which.
 */
import { PassThrough, Writable } from 'node:stream';
import type { ByteLine } from '../../../src/bus/process/byte-line.ts';
import { joinLines } from '../../../src/bus/process/frames.ts';
import { openWorker } from '../../../src/bus/process/open-worker.ts';
import type { Bus } from '../../../src/bus/router/bus.ts';
import { createBus } from '../../../src/bus/router/create-bus.ts';
import { parseBusConfig } from '../../../src/bus/router/parse-config.ts';
import type { Attachment, Peer } from '../../../src/bus/router/peer.ts';
import { workerSpecOf } from '../../../src/bus/router/worker-spec.ts';
import { type BusHome, openBusHome, type Talk, talkOver } from '../../e2e/bus-process.ts';
import { within } from '../../e2e/deadline.ts';

export const DOORS = ['stdio', 'unix', 'tcp', 'embedded'] as const;
export type DoorName = (typeof DOORS)[number];

export interface OpenBus {
  readonly talk: Talk;
  /** Stops it as its users do, and answers how it ended. */
  stop(): Promise<'stopped' | number>;
  /** Processes of its workers, by what the bus said of them. */
  workerPids(): number[];
  close(): Promise<void>;
}

export async function openBus(door: DoorName, document: object): Promise<OpenBus> {
  return door === 'embedded' ? openEmbedded(document) : openProcess(door, document);
}

async function openProcess(door: 'stdio' | 'unix' | 'tcp', document: object): Promise<OpenBus> {
  const home: BusHome = openBusHome();
  const where = { stdio: [], unix: ['--unix', home.path('s')], tcp: ['--tcp', '127.0.0.1:0'] }[
    door
  ];
  const bus = home.start(['--config', home.config(document), ...where]);
  const [, address = ''] = await bus.logged(/ready on (\S+)/);
  const talk =
    door === 'stdio'
      ? talkOver(bus.stdout, bus.stdin)
      : await (door === 'tcp' ? home.enter(address) : home.connect(address));
  return {
    talk,
    async stop() {
      if (door === 'stdio') bus.stdin.end();
      else bus.child.kill('SIGTERM');
      return bus.exited();
    },
    workerPids: () =>
      [...bus.log.matchAll(/started as process (\d+)/g)].map(([, pid]) => Number(pid)),
    close: () => home.close(),
  };
}

async function openEmbedded(document: object): Promise<OpenBus> {
  const config = parseBusConfig(JSON.stringify(document), 'inline');
  const pids: number[] = [];
  const bus: Bus = createBus({
    config,
    openWorker: (pool, index, events) =>
      openWorker(workerSpecOf(pool, config.limits, process.env), index, {
        ...events,
        onNote(worker, note) {
          if (note.what === 'started' && worker.pid !== null) pids.push(worker.pid);
          events.onNote(worker, note);
        },
      }),
  });
  if (bus.state !== 'created') throw new Error(`a new bus is ${bus.state}`);
  const starting = bus.start();
  if ((bus.state as string) !== 'starting') throw new Error(`it starts and is ${bus.state}`);
  await starting;
  if ((bus.state as string) !== 'running') throw new Error(`it has started and is ${bus.state}`);
  const toClient = new PassThrough();
  let attachment: Attachment | null = null;
  const peer: Peer = {
    label: 'embedded',
    identity: null,
    send: (line) => toClient.write(joinLines([line]), 'latin1'),
    queuedBytes: 0,
    setReading() {},
    close(reason) {
      toClient.end();
      attachment?.closed(reason);
    },
  };
  attachment = bus.attach(peer);
  const toBus = new Writable({
    write(chunk: Buffer, _encoding, done) {
      // As a door would: a line a message, blank ones and a carriage return left out.
      for (const text of chunk.toString('latin1').split('\n')) {
        const line = text.replace(/\r$/, '');
        if (line.trim() !== '') attachment?.receive(line as ByteLine);
      }
      done();
    },
  });
  return {
    talk: talkOver(toClient, toBus),
    async stop() {
      await within('the bus stops', bus.stop());
      if (bus.counts().workers !== 0) throw new Error('workers are left');
      return bus.state as 'stopped';
    },
    workerPids: () => pids,
    close: () => bus.stop(0),
  };
}
