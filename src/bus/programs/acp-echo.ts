/**
 * An ACP agent with an echo for a brain: says back what it was told, describes what is not text,
 * and reads what a link points to when a connected MCP server has it. A line that begins with a
 * command makes it ask its client for something, so that permission prompts, files and terminals
 * can be tried from end to end; it never does any of this by itself.
 */

import { setTimeout as wait } from 'node:timers/promises';
import type {
  ContentBlock,
  PermissionOption,
  RequestPermissionOutcome,
  RequestPermissionRequest,
  ToolCallStatus,
} from '@agentclientprotocol/sdk';
import { isObject, type JsonObject, parseJson } from '../process/json-object.ts';
import type { Brain, Outcome, Turn } from './acp-agent.ts';
import { serveAcp } from './acp-front.ts';
import { createMcpServers, type McpServers } from './mcp-servers.ts';
import { CODE, ProgramError } from './program-error.ts';
import { blockText } from './prompt-text.ts';
import type { LineIo } from './stdio-lines.ts';

export interface AcpEchoOptions {
  readonly version: string;
  /** Whether MCP servers a client names are started. */
  readonly usesMcp: boolean;
}

export async function runAcpEcho(options: AcpEchoOptions, io: LineIo): Promise<void> {
  const servers = createMcpServers(options.version, io.note);
  const brain = createEchoBrain(servers, options.usesMcp);
  await serveAcp(
    {
      brain,
      version: options.version,
      onSessionClosed: ({ id }) => servers.close(id),
      close: () => servers.closeAll(),
    },
    io,
  );
}

const WAIT_MS_MAX = 600_000;

const OPTIONS: PermissionOption[] = [
  { optionId: 'allow-once', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'allow-always', name: 'Allow always', kind: 'allow_always' },
  { optionId: 'reject-once', name: 'Reject', kind: 'reject_once' },
  { optionId: 'reject-always', name: 'Reject always', kind: 'reject_always' },
];

function createEchoBrain(servers: McpServers, usesMcp: boolean): Brain {
  return {
    name: 'synod-acp-echo',
    title: 'Synod ACP echo',
    takesImages: true,
    async connect(session, wanted) {
      if (usesMcp) await servers.connect(session.id, wanted);
    },
    async answer(turn): Promise<Outcome> {
      for (const block of turn.prompt) {
        if (block.type === 'text') await answerText(turn, block.text);
        else await turn.say(`${await describe(turn, block)}\n`);
      }
      return { stopReason: 'end_turn' };
    },
  };

  async function describe(turn: Turn, block: ContentBlock): Promise<string> {
    if (block.type !== 'resource_link') return blockText(block);
    const text = await servers.readText(turn.session.id, block.uri);
    return text === null ? blockText(block) : `${blockText(block)}\n${text}`;
  }
  async function answerText(turn: Turn, text: string): Promise<void> {
    for (const line of text.split('\n')) {
      const [, name = '', rest = ''] = /^\/([a-z]+)(?:\s+(.*))?$/.exec(line) ?? [];
      const command = COMMANDS[name];
      if (command === undefined) await turn.say(line);
      else await turn.say(await command(turn, rest, servers));
    }
  }
}

type EchoCommand = (turn: Turn, rest: string, servers: McpServers) => Promise<string>;

const COMMANDS: Readonly<Record<string, EchoCommand>> = {
  async ask(turn, rest) {
    const answer = await askPermission(turn, rest || 'do something');
    return `permission: ${answer}`;
  },
  async read(turn, path) {
    if (turn.clientCan.fs?.readTextFile !== true) throw cannot('fs/read_text_file');
    const sessionId = turn.session.id;
    const { content } = await turn.client.request(
      'fs/read_text_file',
      { sessionId, path },
      { cancellationSignal: turn.signal },
    );
    return content;
  },
  async write(turn, rest) {
    if (turn.clientCan.fs?.writeTextFile !== true) throw cannot('fs/write_text_file');
    const [path = '', ...words] = rest.split(' ');
    const sessionId = turn.session.id;
    await turn.client.request('fs/write_text_file', { sessionId, path, content: words.join(' ') });
    return `wrote ${path}`;
  },
  async run(turn, rest) {
    if (turn.clientCan.terminal !== true) throw cannot('terminal/create');
    const [command = '', ...args] = rest.split(' ');
    const sessionId = turn.session.id;
    await using terminal = await turn.client.createTerminal({ sessionId, command, args });
    const { exitCode, signal } = await terminal.waitForExit();
    const { output } = await terminal.currentOutput();
    return `${output}(exit ${exitCode ?? signal ?? 'unknown'})`;
  },
  async tool(turn, rest, servers) {
    const [, server = '', tool = '', input = '{}'] = /^(\S+)\s+(\S+)(?:\s+(.*))?$/.exec(rest) ?? [];
    const { signal, session } = turn;
    return servers.callTool(session.id, { server, tool, input: parseInput(input), signal });
  },
  async wait(turn, rest) {
    await wait(Math.min(Number(rest) || 0, WAIT_MS_MAX), undefined, { signal: turn.signal });
    return `waited ${rest} ms`;
  },
  async fail(_, rest) {
    throw new ProgramError(CODE.internal, rest || 'asked to fail');
  },
};

/** Answers the kind of option the client chose, or `cancelled`. */
async function askPermission(turn: Turn, what: string): Promise<string> {
  const sessionId = turn.session.id;
  const toolCallId = `ask-${performance.now().toString(36)}`;
  const call = { toolCallId, title: what, kind: 'other' as const };
  await turn.update({ sessionUpdate: 'tool_call', ...call, status: 'pending' });
  const request: RequestPermissionRequest = { sessionId, toolCall: call, options: OPTIONS };
  const outcome = await outcomeOf(turn, request);
  const chosen =
    outcome.outcome === 'selected'
      ? OPTIONS.find(({ optionId }) => optionId === outcome.optionId)?.kind
      : undefined;
  const status: ToolCallStatus = chosen?.startsWith('allow') ? 'completed' : 'failed';
  await turn.update({ sessionUpdate: 'tool_call_update', toolCallId, status });
  if (chosen !== undefined) return chosen;
  return outcome.outcome === 'selected' ? 'refused, there is no such option' : 'cancelled';
}

/** A client that cannot be asked, or answers with an error, has not agreed. */
async function outcomeOf(
  turn: Turn,
  request: RequestPermissionRequest,
): Promise<RequestPermissionOutcome> {
  const options = { cancellationSignal: turn.signal, stopWaitingOnCancel: true };
  try {
    return (await turn.client.request('session/request_permission', request, options)).outcome;
  } catch {
    turn.signal.throwIfAborted();
    return { outcome: 'cancelled' };
  }
}

function parseInput(text: string): JsonObject {
  const value = parseJson(text);
  if (isObject(value)) return value;
  throw new ProgramError(CODE.invalidParams, 'the input of a tool is a JSON object');
}

function cannot(method: string): ProgramError {
  return new ProgramError(
    CODE.notSupported,
    `the client did not say in initialize that it offers ${method}`,
  );
}
