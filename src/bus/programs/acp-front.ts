/**
 * The front every ACP worker has: the library loaded, a lane for each routing session, sessions
 * they share, and a brain behind it. What a session holds open is closed with it.
 */
import { type Brain, createAgent } from './acp-agent.ts';
import { createLanes } from './acp-lanes.ts';
import { loadAcpSdk } from './acp-sdk.ts';
import { type AgentSession, createSessions } from './acp-sessions.ts';
import { type LineIo, serveLines } from './stdio-lines.ts';

export interface FrontOptions {
  readonly brain: Brain;
  readonly version: string;
  /** Lets go of what the brain keeps for a session. */
  onSessionClosed?(session: AgentSession): void;
  /** When everything has been answered. */
  close?(): Promise<void>;
}

export async function serveAcp(options: FrontOptions, io: LineIo): Promise<void> {
  const { brain, version } = options;
  const sdk = await loadAcpSdk();
  const sessions = createSessions({
    onClose: (session) => options.onSessionClosed?.(session),
  });
  await serveLines(
    (output) =>
      createLanes({
        output,
        note: io.note,
        open: (stream, lane) =>
          createAgent({ sdk, brain, sessions, version, lane }).connect(stream),
        async close() {
          sessions.closeAll();
          await options.close?.();
        },
      }),
    io,
  );
}
