/**
 * What an MCP client may keep an eye on instead of asking again and again: the board,
 * the claims, the manifest. Each is the answer of an operation as JSON, at most 256 KB
 * at a time; where there is more, `next` and a note say how to read on [MC10].
 */
import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server';
import type { DurableEvent } from '../../core/law/world.ts';
import type { Operation } from '../operation.ts';
import { claimList } from '../operations/claims.ts';
import { cardManifest } from '../operations/offers.ts';
import { planBoard } from '../operations/plan.ts';
import type { ToolAnswer } from './result.ts';

export const RESOURCE_CHARS_MAX: number = 256 * 1024;
const PAGE_ROWS = 100;
const AFTER_CHARS_MAX = 512;
const RESOURCE_NOT_FOUND = -32_002;

interface View {
  readonly title: string;
  readonly description: string;
  readonly operation: Operation;
  /** The list in the operation's answer, and what `after` takes of a row. */
  readonly rows: string;
  readonly key: string;
  /** The types of events that change what it shows, by their first word. */
  readonly changedBy: readonly string[];
}

const VIEWS: Readonly<Record<string, View>> = {
  'synod://board': {
    title: 'The board',
    description: 'Tasks with their claims: who does what, and what is ready.',
    operation: planBoard,
    rows: 'tasks',
    key: 'task_id',
    changedBy: ['task', 'claim'],
  },
  'synod://claims': {
    title: 'Claims',
    description: 'Who holds what, and until when.',
    operation: claimList,
    rows: 'claims',
    key: 'task_id',
    changedBy: ['claim'],
  },
  'synod://manifest': {
    title: 'Manifest',
    description: 'What agents say they can do.',
    operation: cardManifest,
    rows: 'cards',
    key: 'agent_id',
    changedBy: ['card'],
  },
};

export const RESOURCE_URIS: readonly string[] = Object.keys(VIEWS);

export function listResources(): Resource[] {
  return Object.entries(VIEWS).map(([uri, { title, description }]) => ({
    uri,
    name: uri.slice('synod://'.length),
    title,
    description,
    mimeType: 'application/json',
  }));
}

export function listResourceTemplates(): ResourceTemplateType[] {
  return listResources().map(({ uri, name, title, mimeType }) => ({
    uriTemplate: `${uri}{?after}`,
    name: `${name}-after`,
    title: `${title}, further on`,
    ...(mimeType !== undefined && { mimeType }),
  }));
}

/** The watched resources that these events changed. */
export function changedResources(events: readonly DurableEvent[]): string[] {
  const words = new Set(events.map(({ type }) => type.slice(0, type.indexOf('.'))));
  return RESOURCE_URIS.filter((uri) => VIEWS[uri]?.changedBy.some((word) => words.has(word)));
}

type Ask = (operation: Operation, input: unknown) => Promise<ToolAnswer>;

export async function readResource(uri: string, ask: Ask): Promise<ReadResourceResult> {
  const asked = parseUri(uri);
  if (asked === null) {
    const message = `no resource is called ${JSON.stringify(uri.slice(0, 128))}; there are ${RESOURCE_URIS.join(', ')}`;
    throw new ProtocolError(RESOURCE_NOT_FOUND, message, { uri });
  }
  const value = await gather(asked.base, asked.view, asked.after, ask);
  return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(value) }] };
}

/** Pages of the operation, one after the other, as long as they fit. */
async function gather(
  base: string,
  { operation, rows, key }: View,
  after: string | undefined,
  ask: Ask,
): Promise<Record<string, unknown>> {
  const kept: unknown[] = [];
  let left = RESOURCE_CHARS_MAX - 1024;
  let cursor = after;
  for (;;) {
    const answer = await ask(operation, {
      limit: PAGE_ROWS,
      ...(cursor !== undefined && { after: cursor }),
    });
    if ('error' in answer) {
      throw new ProtocolError(ProtocolErrorCode.InternalError, answer.error.message, answer.error);
    }
    const { [rows]: page, next, ...rest } = answer.ok;
    for (const row of page as Record<string, unknown>[]) {
      left -= JSON.stringify(row).length + 1;
      // One row alone is always shown, or nobody could read past it.
      if (left < 0 && kept.length > 0) return cutAt(base, { ...rest, [rows]: kept }, cursor ?? '');
      kept.push(row);
      cursor = String(row[key]);
    }
    if (next === null || next === undefined) return { ...rest, [rows]: kept, next: null };
  }
}

function cutAt(
  base: string,
  shown: Record<string, unknown>,
  cursor: string,
): Record<string, unknown> {
  const further = `${base}?after=${encodeURIComponent(cursor)}`;
  return { ...shown, next: cursor, note: `there is more: read ${further}` };
}

export function parseUri(uri: string): { base: string; view: View; after?: string } | null {
  const [base = '', query] = uri.split('?', 2);
  const view = Object.hasOwn(VIEWS, base) ? VIEWS[base] : undefined;
  if (view === undefined) return null;
  if (query === undefined) return { base, view };
  const after = new URLSearchParams(query).get('after');
  if (after === null || after === '' || after.length > AFTER_CHARS_MAX) return null;
  return { base, view, after };
}
