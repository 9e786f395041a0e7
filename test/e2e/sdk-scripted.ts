/** A backend whose bus is the test itself: it sees every message and says what it likes. */

import { type ByteLine, lineOf, textOf } from '../../src/bus/process/byte-line.ts';
import type { Backend, BackendEvents } from '../../src/bus/sdk/backend.ts';
import { type StdioBusError, TransportError } from '../../src/bus/sdk/errors.ts';
import { StdioBus, type StdioBusOptions } from '../../src/bus/sdk/index.ts';
import type { Dialect } from '../../src/bus/sdk/states.ts';

export interface Sent {
  readonly id: string;
  readonly method: string;
  readonly sessionId: string;
  readonly [member: string]: unknown;
}

export class ScriptedBackend implements Backend {
  readonly type = 'socket';
  readonly listenMode = 'none';
  readonly messageBytesMax: number = 1_000_000;
  readonly dialect: Dialect;
  queuedBytes = 0;
  isTaking = true;
  readonly sent: Sent[] = [];
  private events: BackendEvents | null = null;

  constructor(dialect: Dialect = 'synod') {
    this.dialect = dialect;
  }

  async open(events: BackendEvents): Promise<void> {
    this.events = events;
  }

  send(line: ByteLine): boolean {
    if (this.isTaking) this.sent.push(JSON.parse(textOf(line)));
    return this.isTaking;
  }

  get last(): Sent {
    return this.sent.at(-1) as Sent;
  }

  say(...messages: (object | string)[]): void {
    this.events?.onLines(
      messages.map((one) => lineOf(typeof one === 'string' ? one : JSON.stringify(one))),
    );
  }

  answer(to: Sent, result: unknown): void {
    this.say({ jsonrpc: '2.0', id: to.id, result });
  }

  chunk(to: { sessionId?: string; requestId?: string }, text: string): void {
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
    const { sessionId, requestId } = to;
    this.say({
      ...{ jsonrpc: '2.0', method: 'session/update', sessionId, params: { update } },
      ...(requestId !== undefined && { _ext: { requestId } }),
    });
  }

  down(willReturn: boolean, problem: StdioBusError = new TransportError('the line broke')): void {
    this.events?.onDown(problem, willReturn);
  }

  up(): void {
    this.events?.onUp();
  }

  async stop(): Promise<void> {}
  destroy(): void {}
  look(): null {
    return null;
  }
  stderrTail(): readonly string[] {
    return [];
  }
}

export async function scripted(
  options: StdioBusOptions = {},
  dialect?: Dialect,
): Promise<{ bus: StdioBus; backend: ScriptedBackend }> {
  const backend = new ScriptedBackend(dialect);
  const bus = new StdioBus({ onLog() {}, ...options, backend });
  await bus.start();
  return { bus, backend };
}
