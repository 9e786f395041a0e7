/**
 * The operations of an OpenAPI document as integrations, named `api.operationId`. A value of a path stays
 * one segment of it, a header one line; the request goes where the document, or whoever registered it, says,
 * by way of the caller's guard [IG7].
 */

import { readJson } from '../../core/law/json.ts';
import type { ConnectRule, Scheme } from '../../guard/policy.ts';
import { currentTrace } from '../../telemetry/scope.ts';
import type { IntegrationContext } from './definition.ts';
import { IntegrationError } from './integration-error.ts';
import type { Integrations } from './integrations.ts';
import type { ToolBounds } from './mcp.ts';
import { type ApiOperation, readDocument } from './openapi-document.ts';

const ANSWER_BYTES_MAX = 10 * 1024 * 1024;
const RETRY_AFTER_MS_MAX = 60_000;
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Which API is registered, and where it is.
 *
 * @example
 * ```ts
 * const pets: OpenApiOptions = {
 *   ...{ name: 'pets', document: '{"openapi":"3.1.0"}', only: ['listPets'] },
 *   headers: (as) => ({ 'x-caller': as }),
 * };
 * ```
 */
export interface OpenApiOptions extends Omit<ToolBounds, 'idempotent' | 'retries'> {
  /** What its operations are named after. */
  readonly name: string;
  /** The document: a value, or text in JSON or YAML. */
  readonly document: unknown;
  /** Where the API is; absent: the first server that the document names. */
  readonly baseUrl?: string;
  /** The operations wanted; absent: all of them. */
  readonly only?: readonly string[];
  /** Besides what the document says, such as authorization; asked for each call. */
  readonly headers?: (as: string) => Readonly<Record<string, string>>;
  /** What the host may stand for, when it is not public; see `ConnectRule`. */
  readonly addresses?: readonly string[];
  /** Attempts beyond the first, of methods that only read. */
  readonly retries?: number;
}

/**
 * The operations of an API that are integrations now, and those that cannot be.
 *
 * @example
 * ```ts
 * const told = ({ names, skipped }: OpenApiRegistered): string =>
 *   `${names.join(', ')}; not ${skipped.map(({ operation }) => operation).join(', ')}`;
 * ```
 */
export interface OpenApiRegistered {
  readonly names: readonly string[];
  /** Operations that cannot be used, and why. */
  readonly skipped: readonly { readonly operation: string; readonly why: string }[];
}

/**
 * @example
 * ```ts
 * registerOpenApi(integrations, {
 *   name: 'pets',
 *   document: await readFile('pets.yaml', 'utf8'),
 *   baseUrl: 'https://pets.example.com/v1',
 *   headers: () => ({ authorization: `Bearer ${key}` }),
 * });
 * await integrations.invoke('pets.showPet', { petId: '7' }, { as: 'ada' });
 * ```
 */
export function registerOpenApi(
  integrations: Integrations,
  options: OpenApiOptions,
): OpenApiRegistered {
  const { name, document, baseUrl, only, headers, addresses, retries = 0, ...bounds } = options;
  const { operations, skipped: unread, server, version } = readDocument(document);
  const base = URL.parse(baseUrl ?? server ?? '');
  if (base === null || !/^https?:$/.test(base.protocol)) {
    const message = `${name} names no server that can be used: say \`baseUrl\``;
    throw new IntegrationError(message, { code: 'integration.definition', isTerminal: true });
  }
  const names: string[] = [];
  const skipped = [...unread];
  for (const operation of operations) {
    if (only !== undefined && !only.includes(operation.id)) continue;
    const isSafe = SAFE_METHODS.includes(operation.method);
    try {
      integrations.register({
        ...{ ...bounds, version, name: `${name}.${operation.id}` },
        ...{ input: operation.input, output: operation.output },
        ...(isSafe && { idempotent: true, retries }),
        capabilities: { connect: [ruleFor(base, operation, addresses)] },
        run: (input: Record<string, unknown>, context) =>
          call(base, operation, input, headers?.(context.as) ?? {}, context),
      });
      names.push(`${name}.${operation.id}`);
    } catch (error) {
      skipped.push({ operation: operation.id.slice(0, 200), why: (error as Error).message });
    }
  }
  const missing = only?.find((id) => !names.includes(`${name}.${id}`));
  if (missing !== undefined) {
    for (const one of names) integrations.unregister(one);
    const why = skipped.find(({ operation }) => operation === missing)?.why ?? 'there is none';
    throw new IntegrationError(`${name}.${missing}: ${why}`, { code: 'integration.definition' });
  }
  return { names, skipped };
}

function ruleFor(
  { protocol, hostname, port }: URL,
  { method }: ApiOperation,
  addresses: readonly string[] | undefined,
): ConnectRule {
  const scheme = protocol.slice(0, -1) as Scheme;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return {
    ...{ scheme, host, methods: [method] },
    ...(port !== '' && { port: Number(port) }),
    ...(addresses !== undefined && { addresses }),
  };
}

async function call(
  base: URL,
  operation: ApiOperation,
  input: Record<string, unknown>,
  more: Readonly<Record<string, string>>,
  { guard, signal, key }: IntegrationContext,
): Promise<unknown> {
  const { method } = operation;
  const body = input.body === undefined ? null : JSON.stringify(input.body);
  const traceparent = currentTrace();
  const answer = await guard.fetch(urlOf(base, operation, input), {
    ...{ method, signal, redirect: 'error' },
    headers: {
      ...headersOf(operation, input),
      accept: 'application/json',
      ...(body !== null && { 'content-type': 'application/json' }),
      ...(traceparent !== null && { traceparent }),
      'idempotency-key': key,
      ...more,
    },
    ...(body !== null && { body }),
  });
  const text = await readText(answer);
  if (answer.ok) return parseAnswer(answer, text);
  const after = Number(answer.headers.get('retry-after'));
  // What the other side says is wrong with us is not mended by saying it again.
  const isTerminal = answer.status < 500 && answer.status !== 429 && answer.status !== 408;
  throw new IntegrationError(`${operation.id} answered ${answer.status}: ${text.slice(0, 300)}`, {
    ...{ code: 'integration.failed', isTerminal },
    ...(after > 0 && { retryAfterMs: Math.min(after * 1_000, RETRY_AFTER_MS_MAX) }),
  });
}

export function urlOf(
  base: URL,
  { path, parameters }: Pick<ApiOperation, 'path' | 'parameters'>,
  input: Readonly<Record<string, unknown>>,
): string {
  const filled = path.replace(/\{([^}]*)\}/g, (_, name: string) =>
    segmentOf(name, own(input, name)),
  );
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, '')}${filled}`;
  for (const { name, in: place } of parameters) {
    const value = own(input, name);
    if (place !== 'query' || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) {
      url.searchParams.append(name, plain(one));
    }
  }
  return url.href;
}

/** One segment, whatever is in it: neither a slash nor a step up makes two of it. */
function segmentOf(name: string, value: unknown): string {
  const text = plain(value);
  if (text === '' || /^(\.|%2e){1,2}$/i.test(text)) {
    throw new IntegrationError(`${name} is a part of the path, and cannot be ${text || 'empty'}`, {
      ...{ code: 'integration.input', isTerminal: true },
    });
  }
  return encodeURIComponent(text);
}

function headersOf(
  { parameters }: ApiOperation,
  input: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const given = parameters.filter(
    ({ in: place, name }) => place === 'header' && Object.hasOwn(input, name),
  );
  return Object.fromEntries(given.map(({ name }) => [name.toLowerCase(), plain(input[name])]));
}

function own(input: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(input, name) ? input[name] : undefined;
}

function plain(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

async function readText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > ANSWER_BYTES_MAX) throw new Error(`the answer is over ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseAnswer(answer: Response, text: string): unknown {
  const type = answer.headers.get('content-type') ?? '';
  if (text === '') return null;
  if (!/json/i.test(type)) return text;
  try {
    return readJson(text);
  } catch (cause) {
    throw new Error('the answer says that it is JSON, and is not', { cause });
  }
}
