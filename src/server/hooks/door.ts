/**
 * The hook door: `POST /v1/hooks/<vendor>` takes what a coding agent's hook was handed, as it is, and gives
 * back what that hook shall print; `…/join` tells an MCP server which agent it is, `GET …/wake` waits until
 * the session has reason to wake. Host and Origin are judged before; here only the owner gets in, and no
 * web page at all [HD1]. Whatever goes wrong behind it is an empty 204, never an error: a hook
 * that fails would hold up an agent [HD2].
 */
import { type Refusal, refuse } from '../../core/law/decider.ts';
import { isVendor, type Vendor } from '../../wire/tool-names.ts';
import type { Caller } from '../desk/caller.ts';
import type { HookRoom } from './hook-room.ts';

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

const TEXT_CHARS_MAX = 1_024;

export function createHookHandler(room: HookRoom): HookHandler {
  return async (visit) => {
    const { vendor, what, request, caller } = visit;
    if (!isVendor(vendor)) return null;
    const refused = checkVisit(visit);
    if (refused !== null) return refused;
    if (what === '' && request.method === 'POST') return answerEvent(visit, vendor);
    if (what === 'join' && request.method === 'POST') return joined(visit, vendor);
    if (what === 'wake' && request.method === 'GET') return waited(request, caller.space);
    return null;
  };

  async function answerEvent(visit: HookVisit, vendor: Vendor): Promise<Response> {
    const { headers, signal } = visit.request;
    const { json } = await room.desk.answer({
      vendor,
      space: visit.caller.space,
      input: visit.body,
      parent: pidOf(headers.get('x-synod-parent')),
      name: textOf(headers.get('x-synod-agent')),
      reach: {
        claudeSocket: textOf(headers.get('x-synod-claude-socket')),
        codexHome: textOf(headers.get('x-synod-codex-home')),
      },
      isGone: () => signal.aborted,
    });
    return json === null ? silence() : reply(json);
  }

  function joined({ body, caller }: HookVisit, vendor: Vendor): Response {
    const said = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
    const { agent } = room.desk.join({
      vendor,
      space: caller.space,
      session: textOf(said.session),
      parent: pidOf(said.parent),
      name: textOf(said.agent),
      reach: { claudeSocket: textOf(said.socket), claudeToken: textOf(said.token) },
    });
    return reply({ agent, space: caller.space });
  }

  async function waited(request: Request, space: string): Promise<Response> {
    const session = textOf(new URL(request.url).searchParams.get('session'));
    if (session === null) return silence();
    const woken = await room.waiters.wait(space, session, request.signal);
    return woken === null ? silence() : reply(woken);
  }
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

function pidOf(value: unknown): number | null {
  const pid = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
  return typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 1 ? pid : null;
}
