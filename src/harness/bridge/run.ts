/**
 * `synod mcp` at work: MCP over stdio for one agent, bridged to the hub, which is started when none
 * runs. Stdout belongs to the protocol, so everything else is said through `complain`.
 */
import { envelopeError } from '../../client/error.ts';
import { startHub } from '../../client/node/start-hub.ts';
import {
  dataDirectory,
  type Globals,
  resolveTarget,
  type Target,
} from '../../client/node/target.ts';
import { isRefusal, refuse } from '../../core/law/decider.ts';
import { toEnvelope } from '../../wire/errors.ts';
import { type Fields, waitMsOf } from '../../wire/fields.ts';
import { createMcpTools } from '../../wire/mcp/tools.ts';
import { operationList } from '../../wire/operations/table.ts';
import type { Vendor } from '../../wire/tool-names.ts';
import { briefAnswer } from './brief.ts';
import { createHttpCall, type HttpCall } from './http-call.ts';
import { createResourceEar, type ResourceEar } from './http-listen.ts';
import { isSessionKnown, joinHub, sessionOfCall } from './join.ts';
import { createPlacer } from './placer.ts';
import { serveMcpStdio } from './stdio.ts';

export interface BridgeOptions {
  readonly globals: Globals;
  /** Who the agent was told to be; undefined when it was not. */
  readonly agent: string | undefined;
  /** The coding agent that started us, whose session the hub knows. */
  readonly vendor: Vendor | null;
  readonly toolset: string;
  /** Answers as SOX words them, own messages too; without it a coding agent's are short. */
  readonly isWhole?: boolean;
  readonly version: string;
  /** For stderr. */
  complain(error: Error): void;
}

/** How the bridge comes to a hub, and to who it is there. */
interface Way {
  /** Where the hub is, started when none runs. */
  locate(): Promise<Target>;
  /** The same with who calls; `meta` is that of the first call, if there is one yet. */
  arrive(meta: Fields): Promise<Target>;
  /** Whether who calls is known without a call. */
  readonly isKnown: boolean;
}

export async function runBridge(options: BridgeOptions): Promise<void> {
  const { toolset, version, complain } = options;
  const isBrief = options.vendor !== null && options.isWhole !== true;
  const { env } = process;
  const way = await findWay(options);
  const connect = async (meta: Fields): Promise<HttpCall> =>
    createHttpCall({
      target: await way.arrive(meta),
      wantsTrace: env.SOX_TRACE === '1',
      relocate: () =>
        way.locate().catch((error) => {
          complain(error);
          return null;
        }),
    });
  let opened: Promise<HttpCall> | null = null;
  const reach = (meta: Fields = {}): Promise<HttpCall> => {
    opened ??= connect(meta).catch((error) => {
      // The next call tries again.
      opened = null;
      throw error;
    });
    return opened;
  };
  // Meanwhile: hooks want a hub that is up, and an agent that is known is seen to be here.
  (way.isKnown ? reach() : way.locate()).catch(complain);
  const place = createPlacer(process.cwd());
  // A client is answered before the hub is looked for: some wait a second for us, and no longer.
  const served = serveMcpStdio({
    async call(name, input, asked) {
      const placed = await place(name, input);
      if (isRefusal(placed)) return { error: toEnvelope(placed) };
      try {
        const hub = await reach(asked.meta);
        return isBrief
          ? await callBriefly(hub, name, placed, asked)
          : hub.call(name, placed, asked);
      } catch (error) {
        complain(error as Error);
        const { message } = error as Error;
        return { error: toEnvelope(refuse('store.unavailable', message)) };
      }
    },
    mention: env.SOX_NO_PRESENCE
      ? null
      : async (...said) => (opened === null ? false : (await reach()).mention(...said)),
    ear: (hooks) => {
      let ear: ResourceEar | null = null;
      return {
        start() {
          reach().then((hub) => {
            ear ??= createResourceEar(() => hub.target, hooks);
            ear.start();
          }, complain);
        },
        close: () => ear?.close(),
      };
    },
    tools: createMcpTools(operationList),
    toolset,
    isBrief,
    version,
    input: process.stdin,
    output: process.stdout,
    onError: complain,
  });
  if (isRefusal(served)) throw envelopeError(toEnvelope(served), null, served.message);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void served.close());
  }
  await served.closed;
  const hub: HttpCall | null =
    (await (opened as Promise<HttpCall> | null)?.catch(() => null)) ?? null;
  hub?.close();
}

/** A wait goes on when nothing but one's own words ended it. */
async function callBriefly(
  hub: HttpCall,
  name: string,
  input: unknown,
  asked: Parameters<HttpCall['call']>[2],
): ReturnType<HttpCall['call']> {
  const until = performance.now() + waitMsOf(input);
  for (let left = input; ; ) {
    const answer = await hub.call(name, left, asked);
    if ('error' in answer) return answer;
    const ok = briefAnswer(name, input, answer.ok, hub.target.agent);
    const waitMs = Math.ceil(until - performance.now());
    const isOnlyOwn = name === 'recv' && 'own_not_shown' in ok && isEmpty(ok.messages);
    if (!isOnlyOwn || waitMs <= 0 || asked.signal.aborted) return { ...answer, ok };
    left = { ...(input as object), wait_ms: waitMs };
  }
}

function isEmpty(messages: unknown): boolean {
  return Array.isArray(messages) && messages.length === 0;
}

async function findWay({ globals, agent, vendor }: BridgeOptions): Promise<Way> {
  const { env } = process;
  // A token says who it is.
  const isTold = Boolean(globals.token ?? env.SYNOD_TOKEN);
  const as = agent ?? (isTold ? undefined : 'default');
  const asked: Globals = { ...globals, ...(as !== undefined && { as }) };
  const locate = async (): Promise<Target> => {
    if (!asked.url && !env.SYNOD_URL) await startHub(dataDirectory(asked.dir, env));
    return resolveTarget(asked, { ...env, SYNOD_AGENT: '', SOX_AGENT_ID: '' });
  };
  if (vendor === null || isTold) {
    const target = await locate();
    return { locate, arrive: async () => target, isKnown: true };
  }
  const arrive: Way['arrive'] = async (meta) => {
    const target = await locate();
    const name = agent === undefined ? null : target.agent;
    const session = sessionOfCall(vendor, meta);
    return { ...target, agent: await joinHub(target, vendor, { session, name }) };
  };
  return { locate, arrive, isKnown: isSessionKnown(vendor, env) };
}
