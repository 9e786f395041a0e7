import { expect, test } from 'vitest';
import { DEFAULT_DOOR_SETTINGS } from '../../wire/hook-settings.ts';
import type { Probe } from '../install/probe.ts';
import type { HookCanary } from './hook-hop.ts';
import { tryWake, wakeFound } from './wake-hop.ts';

/** Whatever is asked of the hub or the hooks fails: the vendor's version alone must answer. */
const canary = { vendor: 'claude', settings: DEFAULT_DOOR_SETTINGS } as HookCanary;

test.each<[Probe, boolean | null, RegExp]>([
  [{ state: 'found', version: '2.1.197' }, false, /2\.1\.197 has no messaging socket/],
  [{ state: 'missing' }, null, /is not known/],
  [{ state: 'silent', reason: 'it says none' }, null, /is not known/],
])(
  '[DO7] %j: that the hub can wake a socket says nothing of the vendor',
  async (probe, works, note) => {
    const row = await tryWake(canary, {}, probe);
    expect(row).toMatchObject({ works, isFault: false, note: expect.stringMatching(note) });
    expect(wakeFound(row)).toMatchObject({ state: 'warn', remedy: expect.stringContaining('npm') });
  },
);

test('[DO7] a version with a socket is tried', async () => {
  await expect(tryWake(canary, {}, { state: 'found', version: '2.1.224' })).rejects.toThrow();
});
