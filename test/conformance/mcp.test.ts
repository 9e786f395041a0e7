/**
 * Synod's MCP doors, held to the MCP project's own client and conformance tool.
 *
 * The client comes in every mode it has, to a real server at `/mcp` and to real
 * `synod mcp` processes. The tool runs all its scenarios; those for which it needs
 * an example server with tools, prompts and resources of its own are listed with
 * the reason, and a scenario on neither list is a failure.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/server/run/config.ts';
import { type RunningServer, startServer } from '../../src/server/run/server.ts';
import { environment, SYNOD } from './sox/server.ts';

type Mode = NonNullable<NonNullable<ClientOptions['versionNegotiation']>['mode']>;

const MODES: readonly { name: string; mode: Mode; version: string }[] = [
  { name: 'legacy', mode: 'legacy', version: '2025-11-25' },
  { name: 'auto', mode: 'auto', version: '2026-07-28' },
  { name: 'pinned to 2026-07-28', mode: { pin: '2026-07-28' }, version: '2026-07-28' },
];

let project: string;
let server: RunningServer;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'mcp-conformance-'));
  const config = parseConfig({
    flags: { auth: 'open', store: 'memory:', port: '0', dir: join(project, 'hub') },
    env: {},
    file: undefined,
    home: project,
    cwd: project,
  });
  if (Array.isArray(config)) throw new Error(JSON.stringify(config));
  server = await startServer(config, { env: {} });
});

afterAll(async () => {
  await server.close();
  await rm(project, { recursive: true, force: true });
});

async function overHttp(agent: string, mode: Mode): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', server.url), {
      requestInit: { headers: { 'X-SOX-Agent-ID': agent } },
    }),
  );
  return client;
}

async function overStdio(agent: string, mode: Mode): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [SYNOD, 'mcp', '--as', agent, '--url', server.url],
      env: environment(project),
      stderr: 'inherit',
    }),
  );
  return client;
}

const DOORS = [
  { door: '/mcp', connect: overHttp },
  { door: 'synod mcp', connect: overStdio },
];

describe.each(DOORS)('the official client at $door', ({ door, connect }) => {
  test.each(MODES)(
    '[MC1] $name: lists, sends, waits and receives',
    async ({ name, mode, version }) => {
      const channel = `talk/${door}/${name}`.replaceAll(' ', '-');
      const [ada, bob] = await Promise.all([connect('ada', mode), connect('bob', mode)]);
      expect(ada.getNegotiatedProtocolVersion()).toBe(version);
      expect(ada.getServerVersion()?.name).toBe('synod');
      // Once the tools are listed, the client holds every answer to its output schema.
      const { tools } = await bob.listTools();
      expect(tools.length).toBeGreaterThan(8);
      expect(JSON.stringify({ tools }).length).toBeLessThan(12_000);

      const call = (client: Client, tool: string, args: Record<string, unknown>) =>
        client.callTool({ name: tool, arguments: args });
      await call(bob, 'channels__subscribe', { pattern: channel });
      const waits = call(bob, 'channels__recv', { wait_ms: 50_000 });
      const sent = await call(ada, 'channels__send', { channel, body: { text: 'hello' } });
      expect(sent.structuredContent).toMatchObject({ seq: 1 });
      const received = await waits;
      expect(received.structuredContent).toMatchObject({
        messages: [{ channel, sender: 'ada', seq: 1, body: { text: 'hello' } }],
      });
      const [first] = received.content;
      expect(JSON.parse(first?.type === 'text' ? first.text : '')).toEqual(
        received.structuredContent,
      );

      const refused = await call(ada, 'channels__send', { channel, body: 'text' });
      expect(refused.isError).toBe(true);
      const [why] = refused.content;
      expect(JSON.parse(why?.type === 'text' ? why.text : '')).toMatchObject({
        error_code: 'validation_error',
      });
      await Promise.all([ada.close(), bob.close()]);
    },
  );
});

describe('synod mcp as a process', () => {
  test('[MC8] answers what came down the pipe, then ends with nothing else on stdout', async () => {
    const child = spawn(process.execPath, [SYNOD, 'mcp', '--as', 'pip', '--url', server.url], {
      env: environment(project),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const params = {
      protocolVersion: '2024-11-05',
      capabilities: {},
      clientInfo: { name: 'pipe', version: '1' },
    };
    const ask = (id: number, method: string, about: object) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: about })}\n`);
    ask(1, 'initialize', params);
    ask(2, 'tools/call', { name: 'channels__send', arguments: { channel: 'pipe', body: {} } });
    child.stdin.end();
    const [written, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
    const answers = written
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers).toMatchObject([
      { id: 1, result: { protocolVersion: '2024-11-05' } },
      { id: 2, result: { structuredContent: { seq: 1 } } },
    ]);
    expect(code).toBe(0);
  });
});

/** Scenarios that a server with nothing but tools must pass. */
const APPLICABLE = [
  'dns-rebinding-protection',
  'ping',
  'server-initialize',
  'server-sse-multiple-streams',
  'tools-call-error',
  'tools-list',
];

const NEEDS_EXAMPLE = 'calls a tool that only the example server has';
const NO_RESOURCES = 'we offer no resources';
const NO_PROMPTS = 'we offer no prompts';
const NEVER_ASKS = 'we never ask the client for anything';
const INAPPLICABLE: Readonly<Record<string, string>> = {
  'completion-complete': 'there is nothing to complete without prompts or resources',
  'elicitation-sep1034-defaults': NEVER_ASKS,
  'elicitation-sep1330-enums': NEVER_ASKS,
  'json-schema-2020-12': NEEDS_EXAMPLE,
  'logging-set-level': 'we log to stderr, not to clients; 2026-07-28 deprecates it',
  'prompts-get-embedded-resource': NO_PROMPTS,
  'prompts-get-simple': NO_PROMPTS,
  'prompts-get-with-args': NO_PROMPTS,
  'prompts-get-with-image': NO_PROMPTS,
  'prompts-list': NO_PROMPTS,
  'resources-list': NO_RESOURCES,
  'resources-read-binary': NO_RESOURCES,
  'resources-read-text': NO_RESOURCES,
  'resources-subscribe': NO_RESOURCES,
  'resources-templates-read': NO_RESOURCES,
  'resources-unsubscribe': NO_RESOURCES,
  'server-sse-polling': 'no stream of ours is resumed: each call has one answer',
  'tools-call-audio': NEEDS_EXAMPLE,
  'tools-call-elicitation': NEVER_ASKS,
  'tools-call-embedded-resource': NEEDS_EXAMPLE,
  'tools-call-image': NEEDS_EXAMPLE,
  'tools-call-mixed-content': NEEDS_EXAMPLE,
  'tools-call-sampling': NEVER_ASKS,
  'tools-call-simple-text': NEEDS_EXAMPLE,
  'tools-call-with-logging': NEEDS_EXAMPLE,
  'tools-call-with-progress': NEEDS_EXAMPLE,
};

interface Check {
  readonly status: string;
  readonly description: string;
  readonly errorMessage?: string;
}

describe('the conformance tool of the MCP project', () => {
  test('[MC1] passes every scenario that applies to a server with nothing but tools', async () => {
    const results = await runTool(`${server.url}/mcp`);
    expect([...results.keys()].sort()).toEqual(
      [...APPLICABLE, ...Object.keys(INAPPLICABLE)].sort(),
    );
    const failed = APPLICABLE.flatMap((scenario) =>
      (results.get(scenario) ?? [])
        .filter(({ status }) => status !== 'SUCCESS' && status !== 'INFO')
        .map(({ description, errorMessage }) => `${scenario}: ${description}: ${errorMessage}`),
    );
    expect(failed).toEqual([]);
    for (const scenario of APPLICABLE) expect(results.get(scenario)).not.toHaveLength(0);
  });
});

/** Runs all scenarios in a process of the tool's own, and reads the checks it writes. */
async function runTool(url: string): Promise<Map<string, readonly Check[]>> {
  const out = join(project, 'results');
  await mkdir(out);
  const { resolve } = createRequire(import.meta.url);
  const manifest = resolve('@modelcontextprotocol/conformance/package.json');
  const tool = join(dirname(manifest), 'dist', 'index.js');
  // It exits with 1, because it counts what does not apply here as failed; its files say which.
  await promisify(execFile)(
    process.execPath,
    [tool, 'server', '--url', url, '--suite', 'all', '--output-dir', out],
    { env: environment(project), cwd: project, maxBuffer: 16 * 1024 * 1024 },
  ).catch((error: { code?: unknown }) => {
    if (error.code !== 1) throw error;
  });
  const entries = await readdir(out);
  return new Map(
    await Promise.all(
      entries.map(async (entry): Promise<[string, readonly Check[]]> => {
        const checks = await readFile(join(out, entry, 'checks.json'), 'utf8');
        return [entry.replace(/^server-(.+)-\d{4}-\d\d-\d\dT.*$/, '$1'), JSON.parse(checks)];
      }),
    ),
  );
}
