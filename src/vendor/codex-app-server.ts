/**
 * What Codex's app-server takes and asks, told once for turns and for clients: how it is greeted, which calls
 * are used, what its requests for approval are about, and how each is answered.
 */
import { isFields } from '../wire/fields.ts';
import { type Params, RpcFailure } from './line-rpc.ts';
import type { Permission } from './permission.ts';
import type { PermissionAsk } from './permission-ask.ts';
import type { Ask } from './probe.ts';
import { brief } from './spoken.ts';
import { UNANSWERED } from './unanswered.ts';

export const CODEX_HELLO: object = {
  clientInfo: { name: 'synod', title: 'Synod', version: '1' },
};

/** Asked for a call it cannot know, the app-server names all it does. What it lacks, as a sentence; or null. */
export async function codexLack(ask: Ask, used: readonly string[]): Promise<string | null> {
  const lines = [
    { id: 1, method: 'initialize', params: CODEX_HELLO },
    { method: 'initialized' },
    { id: 2, method: 'synod/no-such-call', params: {} },
  ];
  const input = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const { text } = await ask(['app-server'], { input, until: /"id":\s*2\b/ });
  if (!/"id":\s*1\b/.test(text)) return 'has no app-server that answers, which a turn uses';
  const known = [...text.matchAll(/`([a-zA-Z]+\/[\w/]+)`/g)].map(([, name]) => name);
  const missing = known.length === 0 ? undefined : used.find((one) => !known.includes(one));
  return missing === undefined ? null : `has no call ${missing}, which a turn uses`;
}

/** The thread that a call began. */
export function threadOf({ thread }: Params): string {
  if (isFields(thread) && typeof thread.id === 'string') return thread.id;
  throw new Error('Codex began no thread');
}

/** Null for a request that is not for a person. `changedBy` tells the files of an item. */
function codexAsk(
  method: string,
  params: Params,
  changedBy: (itemId: string) => readonly Params[],
): PermissionAsk | null {
  const why = typeof params.reason === 'string' ? `, because: ${params.reason}` : '';
  const { command, cwd, networkApprovalContext: network, permissions, grantRoot, itemId } = params;
  switch (method) {
    case 'item/commandExecution/requestApproval': {
      if (isFields(network)) {
        const host = `${String(network.protocol)} ${String(network.host)}`;
        return { action: 'network', subject: `${host}${why}`, payload: { network } };
      }
      const subject = `${String(command)} in ${String(cwd)}${why}`;
      return { action: 'command', subject, payload: { command, cwd } };
    }
    case 'item/fileChange/requestApproval': {
      const changes = changedBy(String(itemId));
      const root = typeof grantRoot === 'string' ? `, and then anything in ${grantRoot}` : '';
      const what = changes.map(({ path, diff }) => `${String(path)}\n${String(diff)}`).join('\n');
      const subject = `${what || 'files it did not name'}${root}${why}`;
      return { action: 'file change', subject, payload: { changes, grantRoot } };
    }
    case 'item/permissions/requestApproval': {
      const subject = `${JSON.stringify(permissions)}${why}`;
      return { action: 'permissions', subject, payload: { permissions } };
    }
    default:
      return null;
  }
}

function codexAnswer(method: string, params: Params, isApproved: boolean): object {
  if (method === 'item/permissions/requestApproval') {
    return { permissions: isApproved ? granted(params.permissions) : {}, scope: 'turn' };
  }
  return { decision: isApproved ? 'accept' : 'decline' };
}

/** What was asked for, without what was not. */
function granted(asked: unknown): object {
  if (!isFields(asked)) return {};
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== null));
}

/** Unless it is told otherwise: it writes in its workspace alone, and asks a person for anything else. */
export const CODEX_THREAD: {
  readonly sandbox: string;
  readonly approvalPolicy: string;
  readonly approvalsReviewer: string;
} = { sandbox: 'workspace-write', approvalPolicy: 'on-request', approvalsReviewer: 'user' };

export interface CodexAsked {
  /** A question to a person; it is passed on, and nobody answers it here. */
  question(text: string): Promise<unknown>;
  permission(ask: PermissionAsk): Promise<Permission>;
  /** Says something to the turn that asked. */
  steer(call: object): Promise<unknown>;
  readonly changedBy: (itemId: string) => readonly Params[];
}

/**
 * The answer to what it asks. Codex tells its model only that a user rejected it: what really happened is
 * steered into the turn beside that.
 */
export async function answerCodex(
  method: string,
  params: Params,
  { question, permission, steer, changedBy }: CodexAsked,
): Promise<object> {
  const { threadId, turnId: expectedTurnId } = params;
  const tell = async (words: string): Promise<void> => {
    const input = [{ type: 'text', text: `Synod: ${words}` }];
    await steer({ threadId, expectedTurnId, input }).catch(() => {});
  };
  if (method === 'item/tool/requestUserInput') {
    await question(brief(codexQuestion(params))).catch(() => {});
    await tell(UNANSWERED);
    return { answers: {} };
  }
  if (method === 'mcpServer/elicitation/request') {
    return { action: 'decline', content: null, _meta: null };
  }
  const ask = codexAsk(method, params, changedBy);
  if (ask === null) throw new RpcFailure(-32601, `${method} is not answered here`, null);
  const { isApproved, words } = await permission(ask);
  if (!isApproved) await tell(`${ask.action} (${ask.subject}): ${words}`);
  return codexAnswer(method, params, isApproved);
}

/** The questions it puts to a person, as one text. */
function codexQuestion({ questions }: Params): string {
  const list = Array.isArray(questions) ? questions.filter(isFields) : [];
  const text = list.map(({ question }) => String(question ?? '')).join('\n');
  return text || 'It has a question.';
}
