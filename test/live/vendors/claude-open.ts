/** Claude Code that stays: `-p` with its input kept open, and the socket it listens on. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { within } from '../../e2e/deadline.ts';
import { cliPath } from '../clis.ts';
import type { Started } from '../scene.ts';
import type { Stage } from '../stage.ts';
import { claude } from './claude.ts';

export interface OpenClaude {
  readonly started: Started;
  readonly say: (text: string) => void;
}

/** A session without a terminal, idle until something is said. */
export function openClaude(
  { scene, setup }: Pick<Stage, 'scene' | 'setup'>,
  flags: readonly string[],
): OpenClaude {
  const formats = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
  // Only the vendor's own tests-of-root rule needs it; nothing here is a sandbox for anybody else.
  const asRoot = process.getuid?.() === 0 ? { IS_SANDBOX: '1' } : {};
  const started = scene.start(cliPath('claude'), ['-p', ...formats, ...flags], {
    env: { ...claude.env(setup), ...asRoot },
    keepsInput: true,
  });
  return {
    started,
    say: (text) => void started.child.stdin?.write(`${userLine(text)}\n`),
  };
}

/** The path of the session's socket, as its hooks are told it. */
export async function socketOf({ probe }: Stage): Promise<string> {
  const { env } = await probe.waitFor('hook', 'SessionStart');
  return env.CLAUDE_CODE_MESSAGING_SOCKET ?? '';
}

/** Hands one message over; resolves once the session has read the line and hung up. */
export async function wake(socket: string, text: string): Promise<void> {
  const connection = connect(socket);
  await once(connection, 'connect');
  const closed = once(connection, 'close');
  connection.resume().end(`${userLine(text)}\n`);
  await within('the session hangs up', closed);
}

function userLine(text: string): string {
  return JSON.stringify({ type: 'user', message: { role: 'user', content: text } });
}
