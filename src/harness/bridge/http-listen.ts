/**
 * The bridge's ear at the hub: one open `subscriptions/listen` at the hub's own MCP
 * door, so that nothing is asked again and again. It is opened when the client first
 * subscribes to something; when it breaks it is opened again, and then everything may
 * have changed [MC12]. It never starts a hub: calls do that.
 */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { request as requestSecurely } from 'node:https';
import { parseJson } from '../../wire/mcp/messages.ts';
import { RESOURCE_URIS } from '../../wire/mcp/resources.ts';
import { type HttpCallOptions, type HubAddress, hubHeaders, routeOf } from './http-call.ts';

const REVISION = '2026-07-28';
const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 30_000;
const EVENT_CHARS_MAX = 1024 * 1024;

export interface ResourceEar {
  /** Opens it; again is harmless. */
  start(): void;
  close(): void;
}

export interface EarHooks {
  onUpdated(uri: string): void;
  /** It hears from now on; what happened before is not known. */
  onReady(): void;
}

export function createResourceEar(
  options: HttpCallOptions,
  addressNow: () => HubAddress,
  hooks: EarHooks,
): ResourceEar {
  let current: ClientRequest | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isStarted = false;
  let isClosed = false;
  let retryMs = RETRY_MS_MIN;

  function connect(): void {
    const address = addressNow();
    const { url, isSecure } = routeOf(address, 'mcp');
    const { socketPath } = address;
    const body = Buffer.from(JSON.stringify(LISTEN));
    let isOver = false;
    const again = (): void => {
      if (isOver || isClosed) return;
      isOver = true;
      timer = setTimeout(connect, retryMs);
      timer.unref();
      retryMs = Math.min(2 * retryMs, RETRY_MS_MAX);
    };
    current = (isSecure ? requestSecurely : request)(
      url,
      {
        method: 'POST',
        agent: false,
        ...(socketPath !== undefined && { socketPath }),
        headers: {
          ...hubHeaders(options, address),
          'Content-Type': 'application/json',
          'Content-Length': body.length,
          Accept: 'application/json, text/event-stream',
          'MCP-Protocol-Version': REVISION,
          'Mcp-Method': LISTEN.method,
        },
      },
      (response) => {
        response.on('error', again).on('close', again);
        if (response.statusCode === 200) hear(response);
        else response.resume();
      },
    );
    current.on('error', again).end(body);
  }

  function hear(response: IncomingMessage): void {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      if (text.length > EVENT_CHARS_MAX) response.destroy();
      for (const block of blocks) take(/^data: ?(.*)$/m.exec(block)?.[1] ?? '');
    });
  }

  function take(data: string): void {
    const said = parseJson(data) as { method?: unknown; params?: { uri?: unknown } } | undefined;
    if (said?.method === 'notifications/subscriptions/acknowledged') {
      retryMs = RETRY_MS_MIN;
      hooks.onReady();
    }
    const uri = said?.params?.uri;
    if (said?.method === 'notifications/resources/updated' && typeof uri === 'string') {
      hooks.onUpdated(uri);
    }
  }

  return {
    start() {
      if (isStarted || isClosed) return;
      isStarted = true;
      connect();
    },
    close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      current?.destroy();
    },
  };
}

const LISTEN = {
  jsonrpc: '2.0',
  id: 1,
  method: 'subscriptions/listen',
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': REVISION,
      'io.modelcontextprotocol/clientInfo': { name: 'synod-mcp', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
    notifications: { resourceSubscriptions: RESOURCE_URIS },
  },
} as const;
