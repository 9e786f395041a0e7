/**
 * Claude Code's messaging socket: one line of JSON to a Unix socket that the session itself named. It is
 * never answered there; the session's own hook confirms. A path that is no socket, or another user's,
 * is not spoken to, and the session's token is shown to that socket alone [WA4].
 */
import { lstatSync } from 'node:fs';
import { connect } from 'node:net';
import { ATTEMPT_MS, type WakeMeans } from './wake-means.ts';

export const claudeSocket: WakeMeans = {
  name: 'claude-socket',
  isFor: ({ booked, reach }) => booked.vendor === 'claude' && reach.claudeSocket !== null,
  async attempt({ attention, text }) {
    const { claudeSocket: path, claudeToken: token } = attention.reach;
    if (path === null) return 'the session has not said its socket';
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isSocket() !== true) return 'the session’s socket is gone';
    if (process.getuid !== undefined && stat.uid !== process.getuid()) return 'not our socket';
    const lines = [
      ...(token === null ? [] : [{ type: 'auth', token }]),
      { type: 'user', message: { role: 'user', content: text } },
    ];
    return send(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  },
};

function send(path: string, bytes: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.setTimeout(ATTEMPT_MS, () => socket.destroy(new Error('no answer in time')));
    socket.once('error', (error) => resolve(error.message));
    socket.once('connect', () => {
      // Nothing ever comes back; what does is not for us.
      socket.resume();
      socket.end(bytes, () => resolve(null));
    });
  });
}
