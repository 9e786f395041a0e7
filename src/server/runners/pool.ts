/**
 * The runner `pool`: a worker of the hub's own bus. With a `method` the worker is asked once, with the
 * turn as params, and its answer is the result; without one it is spoken to over ACP, as the workers in
 * the box are, and what it says is the answer [RU15]. A permission it asks for is a gate.
 */

import { stopReason } from '../../bus/process/line-process.ts';
import type { Bus } from '../../bus/router/bus.ts';
import { EmbeddedBackend } from '../../bus/sdk/embedded.ts';
import { StdioBus } from '../../bus/sdk/stdio-bus.ts';
import { isRefusal, type Refusal, refuse } from '../../core/law/decider.ts';
import { withSpan } from '../../telemetry/scope.ts';
import { isFields, textOf } from '../../wire/fields.ts';
import type { SpecOf } from '../../wire/operations/runner-spec.ts';
import type { Runner, TurnJob, TurnResult } from './runner.ts';
import { createLiner, spokenPrompt, spokenResult } from './spoken-turn.ts';
import { failedResult, parseTurnResult } from './turn-result.ts';

/** Of what a worker says so much is sent as its answer. */
const SAID_CHARS_MAX = 256 * 1024;

type PoolSpec = SpecOf<'pool'>;

const PERMISSION = 'session/request_permission';

/** The bus of the hub, when there is one. */
export function createPoolRunner(busOf: () => Bus | null): Runner<PoolSpec> {
  return {
    kind: 'pool',
    check: async ({ pool }) => checkPool(busOf(), pool),
    async run(job) {
      if (job.signal.aborted) return failedResult(stopReason(job.signal));
      const bus = busOf();
      const refused = checkPool(bus, job.spec.pool);
      if (bus === null || refused !== null) return failedResult(refused?.message ?? '');
      const line = new StdioBus({
        backend: new EmbeddedBackend({ bus }),
        timeoutMs: Number.POSITIVE_INFINITY,
      });
      try {
        await line.start();
        return await (job.spec.method === undefined ? converse(line, job) : ask(line, job));
      } catch (error) {
        const reason = job.signal.aborted ? stopReason(job.signal) : String(error);
        return failedResult(reason);
      } finally {
        line.destroy();
      }
    },
  };
}

function checkPool(bus: Bus | null, pool: string): Refusal | null {
  const field = 'pool';
  if (bus === null) {
    return refuse('runner.unusable', 'this hub has no bus; start it with --bus FILE', { field });
  }
  const pools = bus.config.pools.map(({ id }) => id);
  if (pools.includes(pool)) return null;
  const message = `the bus has no pool ${JSON.stringify(pool)}; it has ${pools.join(', ')}`;
  return refuse('runner.unusable', message, { field });
}

async function ask(line: StdioBus, job: TurnJob<PoolSpec>): Promise<TurnResult> {
  const { spec, turn, messages, hub, signal, transcript } = job;
  const params = { turn, messages, hub };
  const route = { pool: spec.pool, sessionId: sessionOf(job), signal };
  const method = spec.method as string;
  const answer = await inBusSpan(spec.pool, method, (traceparent) =>
    line.request(method, params, { ...route, traceparent }),
  );
  const result = parseTurnResult(answer, messages);
  transcript.append(JSON.stringify(answer));
  return isRefusal(result) ? failedResult(result.message) : result;
}

async function converse(line: StdioBus, job: TurnJob<PoolSpec>): Promise<TurnResult> {
  return inBusSpan(job.spec.pool, 'session/prompt', (trace) => speak(line, job, trace));
}

async function speak(
  line: StdioBus,
  job: TurnJob<PoolSpec>,
  traceparent: string | null,
): Promise<TurnResult> {
  const { spec, hub, signal, transcript, cwd } = job;
  const route = { pool: spec.pool, sessionId: sessionOf(job), signal, traceparent };
  // Where ACP has its agents look.
  const meta = traceparent === null ? {} : { _meta: { traceparent } };
  line.onRequest(({ method, params }) => (method === PERMISSION ? permit(job, params) : undefined));
  const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false } };
  const about = await line.request('initialize', { protocolVersion: 1, clientCapabilities }, route);
  const opened = await line.request(
    'session/new',
    { cwd, mcpServers: takesHttp(about) ? [mcpServer(hub, traceparent)] : [], ...meta },
    route,
  );
  const sessionId = isFields(opened) ? textOf(opened, 'sessionId') : null;
  if (sessionId === null) return failedResult('the worker opened no session');
  const prompt = [{ type: 'text', text: spokenPrompt(job, Date.now()) }];
  const liner = createLiner((text) => transcript.append(text));
  let said = '';
  for await (const event of line.stream('session/prompt', { sessionId, prompt, ...meta }, route)) {
    if (event.type !== 'chunk') continue;
    // Beyond what an answer may be it is in the transcript alone, which has a bound of its own.
    if (said.length < SAID_CHARS_MAX) said += event.text;
    liner.push(event.text);
  }
  liner.end();
  return spokenResult(job, said);
}

/** The request is a span of its own, and its worker goes on from there. */
function inBusSpan<T>(
  pool: string,
  method: string,
  run: (traceparent: string | null) => Promise<T>,
): Promise<T> {
  const about = { 'rpc.system.name': 'jsonrpc', 'rpc.method': method, 'synod.pool': pool };
  return withSpan(`${pool} ${method}`, about, (span) => run(span.traceparent), { kind: 'client' });
}

/** A conversation of its own on the bus. */
function sessionOf({ turn }: TurnJob): string {
  return `turn-${turn.space}-${turn.turn_id}-${turn.epoch}`;
}

function takesHttp(about: unknown): boolean {
  const capabilities = isFields(about) ? about.agentCapabilities : null;
  const mcp = isFields(capabilities) ? capabilities.mcpCapabilities : null;
  return isFields(mcp) && mcp.http === true;
}

function mcpServer(
  { url, token }: TurnJob['hub'],
  traceparent: string | null,
): Record<string, unknown> {
  const headers = [
    { name: 'authorization', value: `Bearer ${token}` },
    ...(traceparent === null ? [] : [{ name: 'traceparent', value: traceparent }]),
  ];
  return { type: 'http', name: 'synod', url: `${url}/mcp`, headers };
}

/** Approved is the one choice that allows this once; anything else is no. */
async function permit(job: TurnJob, params: unknown): Promise<unknown> {
  const fields = isFields(params) ? params : {};
  const call = isFields(fields.toolCall) ? fields.toolCall : {};
  const subject = textOf(call, 'title') ?? JSON.stringify(call);
  const { state } = await job.askGate({
    ...{ action: textOf(call, 'kind') ?? 'tool', subject, payload: call.rawInput ?? call },
  });
  const wanted = state === 'approved' ? 'allow_once' : 'reject_once';
  const options = Array.isArray(fields.options) ? fields.options.filter(isFields) : [];
  const chosen = options.find(({ kind }) => kind === wanted);
  if (chosen === undefined) return { outcome: { outcome: 'cancelled' } };
  return { outcome: { outcome: 'selected', optionId: chosen.optionId } };
}
