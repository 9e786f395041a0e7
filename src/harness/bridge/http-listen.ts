/**
 * The bridge's ear at the hub: one open `subscriptions/listen` at the hub's own MCP
 * door, so that nothing is asked again and again. It is opened when the client first
 * subscribes to something; when it breaks it is opened again, and then everything may
 * have changed [MC12]. It never starts a hub: calls do that.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { readEvents } from '../../client/node/event-stream.ts';
import { ask } from '../../client/node/http.ts';
import type { Target } from '../../client/node/target.ts';
import { parseJson } from '../../wire/fields.ts';
import { RESOURCE_URIS } from '../../wire/mcp/resources.ts';

const REVISION = '2026-07-28';
const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 30_000;

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

export function createResourceEar(targetNow: () => Target, hooks: EarHooks): ResourceEar {
  const closing = new AbortController();
  const { signal } = closing;
  let isStarted = false;
  let retryMs = RETRY_MS_MIN;

  async function listen(): Promise<void> {
    const response = await ask(targetNow(), {
      method: 'POST',
      path: '/mcp',
      body: JSON.stringify(LISTEN),
      signal,
      headers: {
        accept: 'application/json, text/event-stream',
        'x-sox-transport': 'stdio',
        'mcp-protocol-version': REVISION,
        'mcp-method': LISTEN.method,
      },
    });
    if (response.statusCode !== 200) response.destroy();
    else for await (const { event, data } of readEvents(response)) if (event !== ':') take(data);
  }

  async function listenOn(): Promise<void> {
    while (!signal.aborted) {
      // However it ended, it is opened again.
      await listen().catch(() => {});
      await pause(retryMs, null, { ref: false, signal }).catch(() => {});
      retryMs = Math.min(2 * retryMs, RETRY_MS_MAX);
    }
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
      if (isStarted) return;
      isStarted = true;
      void listenOn();
    },
    close: () => closing.abort(),
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
