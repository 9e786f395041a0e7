/**
 * The hook door: `POST /v1/hooks/<vendor>` takes what a coding agent's hook was handed, as it is, and gives
 * back what that hook shall print; `…/gate` does so after people had time to answer a permission prompt,
 * `…/join` tells an MCP server which agent it is, `GET …/wake` waits until the session has reason to wake. Host and Origin are judged before; here only the owner gets in, and no
 * web page at all [HD1]. Whatever goes wrong behind it is an empty 204, never an error: a hook
 * that fails would hold up an agent [HD2]. What is behind it is opened when the first hook comes, or when
 * the hub has time, because a hub that nobody's hooks speak to needs none of it.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type Refusal, refuse } from '../../core/law/decider.ts';
import { isFields } from '../../wire/fields.ts';
import { PROMPT_WAIT_SECONDS } from '../../wire/hook-settings.ts';
import { isVendor, type Vendor } from '../../wire/tool-names.ts';
import type { Caller } from '../desk/caller.ts';
import type { Hooks, HooksOptions } from './hooks.ts';
import { sessionsPath } from './session-place.ts';

export interface HookVisit {
  readonly caller: Caller;
  readonly request: Request;
  readonly vendor: string;
  /** What follows the vendor in the path; empty for an event. */
  readonly what: string;
  /** The parsed body; undefined when it was no JSON. */
  readonly body: unknown;
}

/** Null when the path is none of ours. */
export type HookHandler = (visit: HookVisit) => Promise<Response | Refusal | null>;

export interface HookDoor {
  readonly handle: HookHandler;
  /** Begins to load what the first hook would wait for; with no session to remember, not before the hub has answered others. */
  prepare(): void;
  /** Nobody waits for people any more: the hub stops. */
  endWaits(): Promise<void>;
  close(): Promise<void>;
}

const TEXT_CHARS_MAX = 1_024;
/** More than a script counts. */
const UNASKED_MAX = 1_000;
/** By then whoever started the hub has its first answer. */
const LEISURE_MS = 250;

export function createHookDoor(options: HooksOptions): HookDoor {
  const { report } = options;
  let opened: Promise<Hooks> | null = null;
  let leisure: NodeJS.Timeout | undefined;
  const open = (): Promise<Hooks> => {
    opened ??= import('./hooks.ts').then(({ openHooks }) => openHooks(options));
    return opened;
  };
  return {
    async handle(visit) {
      const { vendor, caller } = visit;
      if (!isVendor(vendor)) return null;
      const refused = checkVisit(visit);
      if (refused !== null) return refused;
      try {
        const hooks = await open();
        hooks.follow(caller.space);
        return await answerVisit(hooks, visit, vendor);
      } catch (cause) {
        const id = randomUUID();
        report('a hook was met with silence', cause, id);
        return new Response(null, { status: 204, headers: { 'x-correlation-id': id } });
      }
    },
    prepare() {
      const begin = (): void =>
        void open().catch((cause) => report('the hook door does not open', cause));
      // Names that sessions were given are theirs from the start [I13].
      if (existsSync(sessionsPath(options.dir))) return begin();
      leisure = setTimeout(begin, LEISURE_MS);
      leisure.unref();
    },
    async endWaits() {
      clearTimeout(leisure);
      (await opened?.catch(() => null))?.endWaits();
    },
    async close() {
      clearTimeout(leisure);
      // One that did not open has said so, and has nothing to close.
      const hooks = await opened?.catch(() => null);
      await hooks?.close();
    },
  };
}

async function answerVisit(
  hooks: Hooks,
  visit: HookVisit,
  vendor: Vendor,
): Promise<Response | null> {
  const { request, what, caller } = visit;
  if (what === '' && request.method === 'POST') return answerEvent(hooks, visit, vendor);
  if (what === 'gate' && request.method === 'POST') return answerEvent(hooks, visit, vendor);
  if (what === 'join' && request.method === 'POST') return joined(hooks, visit, vendor);
  if (what === 'wake' && request.method === 'GET') return waited(hooks, request, caller.space);
  return null;
}

async function answerEvent(hooks: Hooks, visit: HookVisit, vendor: Vendor): Promise<Response> {
  const { headers, signal } = visit.request;
  const { json } = await hooks.desk.answer({
    vendor,
    space: visit.caller.space,
    input: visit.body,
    parent: pidOf(headers.get('x-synod-parent')),
    name: textOf(headers.get('x-synod-agent')),
    reach: {
      claudeSocket: textOf(headers.get('x-synod-claude-socket')),
      codexHome: textOf(headers.get('x-synod-codex-home')),
    },
    unasked: Math.min(Number(headers.get('x-synod-unasked')) || 0, UNASKED_MAX),
    isGone: () => signal.aborted,
    patience:
      visit.what === 'gate' ? { waitMs: waitOf(headers.get('x-synod-wait')), signal } : null,
  });
  return json === null ? silence() : reply(json);
}

function joined(hooks: Hooks, { body, caller }: HookVisit, vendor: Vendor): Response {
  const said = isFields(body) ? body : {};
  const { agent } = hooks.desk.join({
    vendor,
    space: caller.space,
    session: textOf(said.session),
    parent: pidOf(said.parent),
    name: textOf(said.agent),
    reach: { claudeSocket: textOf(said.socket), claudeToken: textOf(said.token) },
  });
  return reply({ agent, space: caller.space });
}

async function waited(hooks: Hooks, request: Request, space: string): Promise<Response> {
  const session = textOf(new URL(request.url).searchParams.get('session'));
  if (session === null) return silence();
  const woken = await hooks.waiters.wait(space, session, request.signal);
  return woken === null ? silence() : reply(woken);
}

/** Hooks are run by programs of the owner; a browser has no business here, allowed origin or not. */
function checkVisit({ caller, request }: HookVisit): Refusal | null {
  if (request.headers.has('origin')) {
    return refuse('access.denied', 'hooks are not for web pages, of whatever origin');
  }
  if (!caller.isOwner) {
    return refuse('access.denied', 'hooks are taken with the owner’s credential alone');
  }
  return null;
}

function reply(value: object): Response {
  return new Response(JSON.stringify(value), {
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  });
}

function silence(): Response {
  return new Response(null, { status: 204 });
}

function textOf(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > TEXT_CHARS_MAX) return null;
  return value;
}

/** Of a hook that waits for people. */
function waitOf(seconds: string | null): number {
  const { least, usual, most } = PROMPT_WAIT_SECONDS;
  return Math.min(Math.max(Number(seconds) || usual, least), most) * 1_000;
}

function pidOf(value: unknown): number | null {
  const pid = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  return typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 1 ? pid : null;
}
