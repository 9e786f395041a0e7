/** What the first screen says of the Synapse door, in each of its three ways. */
import { expect, test } from 'vitest';
import type { SynapseConfig } from '../server/run/config-synapse.ts';
import { synapseLine } from './synapse-line.ts';

const door = { port: 8876, auth: 'token', token: null } as unknown as SynapseConfig;
const said = (change: Partial<SynapseConfig>): string =>
  synapseLine('ws://127.0.0.1:8876', '/home/ada/.synod', { ...door, ...change });

test('[CL16] the door is said with the file of its token, with “the token you gave”, or with who it serves', () => {
  expect(said({})).toBe(
    'Synapse clients come to ws://127.0.0.1:8876 with --token-file /home/ada/.synod/synapse-token',
  );
  expect(said({ token: 'a secret of mine' })).toBe(
    'Synapse clients come to ws://127.0.0.1:8876 with the token you gave',
  );
  expect(said({ auth: 'open' })).toMatch(/any program .*, under any name: no token is asked for$/);
});
