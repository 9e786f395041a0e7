/**
 * The tools: the registered server is started as the vendor starts it, shakes hands, lists its tools,
 * and sends a message that the witness takes from its own inbox [DO4]. Whether it is the same hub is asked
 * before, so that a message to another hub is told as that, and not as lost.
 */
import { type Fields, isFields } from '../../wire/fields.ts';
import { SEND_TOOL, type Vendor } from '../../wire/tool-names.ts';
import {
  canaryBody,
  canaryChannel,
  canaryName,
  type DoctorHub,
  isRefused,
  stateFor,
  WITNESS,
} from './canary.ts';
import { type Found, fail, inMs, ok, warn } from './hop.ts';
import { type Launched, type LineRpc, openLineRpc } from './line-rpc.ts';
import { readTokenFate } from './token-fate.ts';

/** How long a vendor waits for a server before the first turn goes out without it, as measured. */
const PATIENCE_MS: Readonly<Record<Vendor, number | null>> = {
  claude: 2_000,
  codex: 1_000,
  gemini: null,
  opencode: null,
};
const PROTOCOLS: Readonly<Record<Vendor, string>> = {
  claude: '2025-11-25',
  codex: '2025-06-18',
  gemini: '2025-06-18',
  opencode: '2025-11-25',
};
const ANSWER_MS = 15_000;
const ARRIVE_MS = 5_000;
const NEEDED: readonly string[] = [SEND_TOOL, 'channels__recv', 'claims__take'];

export interface McpCanary {
  readonly vendor: Vendor;
  readonly title: string;
  readonly hub: DoctorHub;
  readonly launched: Launched;
  /** The file that registers it. */
  readonly path: string;
  readonly session: string;
  readonly mark: string;
}

export async function tryServer(canary: McpCanary): Promise<Found[]> {
  const rpc = openLineRpc(canary.launched);
  try {
    const greeted = await greet(rpc, canary);
    return greeted.state === 'fail' ? [greeted] : [greeted, await exchange(rpc, canary)];
  } finally {
    await rpc.close();
  }
}

async function greet(rpc: LineRpc, { vendor, title, path }: McpCanary): Promise<Found> {
  const again = `run it by hand to see what it says; then: synod upgrade, or synod install ${vendor}`;
  const failed = (why: string): Found => {
    const words = rpc.lastWords();
    const said = words === '' ? '' : `; it says: ${words}`;
    return fail('mcp', `the server registered in ${path} does not answer: ${why}${said}`, again);
  };
  const from = performance.now();
  const met = await rpc.ask(
    'initialize',
    {
      protocolVersion: PROTOCOLS[vendor],
      capabilities: {},
      clientInfo: { name: 'synod-doctor', version: '1' },
    },
    ANSWER_MS,
  );
  if ('error' in met) return failed(met.error);
  rpc.tell('notifications/initialized');
  const listed = await rpc.ask('tools/list', {}, ANSWER_MS);
  if ('error' in listed) return failed(listed.error);
  const ms = performance.now() - from;
  const tools = Array.isArray(listed.result.tools) ? listed.result.tools : [];
  const names = tools.map((tool) => (isFields(tool) ? tool.name : null));
  const missing = NEEDED.filter((name) => !names.includes(name));
  if (missing.length > 0) {
    return fail('mcp', `the server in ${path} does not offer ${missing.join(', ')}`, again);
  }
  const patience = PATIENCE_MS[vendor];
  const took = `${names.length} tools in ${inMs(ms)}`;
  if (patience === null) return ok('mcp', `the registered server offers ${took}`, ms);
  if (ms <= patience) {
    return ok('mcp', `the registered server offers ${took} (${title} waits ${patience} ms)`, ms);
  }
  return {
    ...warn(
      'mcp',
      `the registered server offers ${took}, and ${title} waits ${patience} ms: a first turn may lack the tools`,
      'look again when the machine is less busy; the turns after it have them',
    ),
    ms,
  };
}

async function exchange(rpc: LineRpc, canary: McpCanary): Promise<Found> {
  const { vendor, hub, mark, session, path } = canary;
  const channel = canaryChannel(vendor);
  const call = (name: string, input: object) =>
    rpc.ask(
      'tools/call',
      // Codex says the thread with every call; the others do not mind.
      { name, arguments: input, _meta: { threadId: session, sessionId: session } },
      ANSWER_MS,
    );
  const here = await hub.call(WITNESS, 'hub.status', {});
  const there = await call('hub__status', {});
  const trouble = textOfError(there);
  if (trouble !== null) return refusedCall(canary, trouble);
  const elsewhere = structured(there)?.node_id;
  if (isRefused(here))
    return fail('message', `the hub does not answer: ${here.message}`, 'synod up');
  if (elsewhere !== here.answer.node_id) {
    return fail(
      'message',
      `the server in ${path} speaks to another hub than this one`,
      'let both have one SYNOD_DIR (or none), and no SYNOD_URL; then start the agent anew',
    );
  }
  await hub.call(WITNESS, 'channels.subscribe', { pattern: channel });
  const from = performance.now();
  const body = canaryBody(mark);
  const sent = await call(SEND_TOOL, { channel, body, correlation_id: `doctor-${mark}` });
  const refused = textOfError(sent);
  if (refused !== null) return refusedCall(canary, refused);
  const id = String(structured(sent)?.message_id);
  const wait = { channels: [channel], wait_ms: ARRIVE_MS };
  const taken = await hub.call(WITNESS, 'channels.recv', wait);
  const ms = performance.now() - from;
  const messages = isRefused(taken) ? [] : taken.answer.messages;
  const mine = messages.find(({ message_id }) => message_id === id);
  const sender = mine?.sender ?? canaryName(vendor);
  return judgeReceipt(canary, { id, sender, ms, isTaken: mine !== undefined });
}

interface Returned {
  readonly id: string;
  readonly sender: string;
  readonly ms: number;
  /** By this run; another may have been quicker. */
  readonly isTaken: boolean;
}

/** Whoever took it, the receipt must say so. */
async function judgeReceipt({ vendor, hub }: McpCanary, returned: Returned): Promise<Found> {
  const { id, sender, ms, isTaken } = returned;
  const state = await stateFor(WITNESS, hub, sender, id);
  if (state === 'consumed') {
    const as = sender === canaryName(vendor) ? '' : `, sent as ${sender}`;
    const how = `taken by another in ${inMs(ms)}${as}; receipt consumed`;
    return ok('message', `sent by the tool, ${how}`, ms);
  }
  return isTaken
    ? fail(
        'message',
        `a message came back, but its receipt says ${state} instead of consumed`,
        'this is a fault of the hub: please report it, with the version',
      )
    : fail(
        'message',
        `a message went out (${id}) and did not come back within ${ARRIVE_MS / 1000} s`,
        'see hub.log in the data directory, then: synod log verify',
      );
}

/** A call that came to nothing: mostly the credential the server was given. */
async function refusedCall(canary: McpCanary, text: string): Promise<Found> {
  const { hub, path, launched } = canary;
  const token = launched.env.SYNOD_TOKEN;
  if (token && /agent_unknown|access\.|credential/.test(text)) {
    const { message, remedy } = await readTokenFate(hub, token, `SYNOD_TOKEN (${path})`);
    return fail('message', message, remedy);
  }
  const first = text.split('\n', 1)[0]?.slice(0, 300);
  return fail('message', `a tool call was refused: ${first}`, 'see: synod status, synod whoami');
}

/** Null when the call went well. */
function textOfError(said: Awaited<ReturnType<LineRpc['ask']>>): string | null {
  if ('error' in said) return said.error;
  if (said.result.isError !== true) return null;
  return JSON.stringify(said.result.content ?? said.result);
}

function structured(said: Awaited<ReturnType<LineRpc['ask']>>): Fields | null {
  if ('error' in said) return null;
  const { structuredContent } = said.result;
  return isFields(structuredContent) ? structuredContent : null;
}
