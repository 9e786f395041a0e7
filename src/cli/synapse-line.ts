/** What a person is told of the Synapse door: where it is, and what its clients must show [CL16]. */
import { join } from 'node:path';
import type { SynapseConfig } from '../server/run/config-synapse.ts';

export function synapseLine(url: string, dir: string, { auth, token }: SynapseConfig): string {
  if (auth === 'open') {
    const who = 'any program of this machine, under any name: no token is asked for';
    return `Synapse clients come to ${url}; it serves ${who}`;
  }
  const what = token === null ? `--token-file ${join(dir, 'synapse-token')}` : 'the token you gave';
  return `Synapse clients come to ${url} with ${what}`;
}
