/** Links of the window, by a clock that the test moves. */
import { expect, test } from 'vitest';
import { isRefusal } from '../../core/law/decider.ts';
import type { Platform } from './platform.ts';
import type { Spaces } from './spaces.ts';
import { createWebSessions, LINK_MS, webSessionToken } from './web-sessions.ts';

const OWNER = { id: 'owner', kind: 'admin', tier: 'owner' } as const;

function scene() {
  let elapsed = 0;
  let made = 0;
  const platform = {
    elapsedMs: () => elapsed,
    newSecret: () => `secret-${++made}`,
    newId: () => 'id',
    digest: (text: string) => `digest of ${text}`,
  } as Platform;
  // A link that is still good gets as far as its space.
  const spaces = { find: () => null, open: async () => ({ refused: 'space.not-found' }) };
  const sessions = createWebSessions(platform, spaces as unknown as Spaces);
  return {
    sessions,
    pass: (ms: number) => {
      elapsed += ms;
    },
    async enter(secret: string): Promise<string> {
      const entered = await sessions.enter(secret, 'a browser');
      return isRefusal(entered) ? entered.refused : 'in';
    },
  };
}

test('[WD1] a link is good for a minute', async () => {
  const { sessions, enter, pass } = scene();
  const early = sessions.makeLink('gone', 'paula', OWNER);
  const late = sessions.makeLink('gone', 'paula', OWNER);
  pass(LINK_MS - 1);
  expect(await enter(early)).toBe('space.not-found');
  pass(1);
  expect(await enter(late)).toBe('link.spent');
});

test('[WD1] of more than a hundred links the oldest is forgotten', async () => {
  const { sessions, enter } = scene();
  const links = Array.from({ length: 101 }, () => sessions.makeLink('gone', 'paula', OWNER));
  expect(await enter(links[0] as string)).toBe('link.spent');
  expect(await enter(links[1] as string)).toBe('space.not-found');
});

test('[WD3] what is no half makes no token', () => {
  expect(webSessionToken('default.w1.half', 'syw_other')).toBe('syn_default.w1.halfother');
  for (const cookie of ['', 'default.a1.half', 'default.w1.', 'x', 'a.b.c.d', 'default.w1.ha;lf']) {
    expect(webSessionToken(cookie, 'syw_other')).toBe(null);
  }
  expect(webSessionToken('default.w1.half', 'syn_other')).toBe(null);
});
