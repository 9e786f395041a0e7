/**
 * No check is skipped in silence: what this machine has not is said at the end of each run, with what is not
 * proved without it and how to get it. Tests ask for themselves whether they can run; this only says so.
 */
import { spawnSync } from 'node:child_process';
import { findSandbox } from '../src/guard/sandbox.ts';
import { NO_TMUX } from './e2e/chat-terminal.ts';
import { NO_NATS } from './nats/server.ts';

interface Lack {
  readonly why: string | null;
  readonly unproved: string;
}

/** Each project of a run asks for it; one answer is enough. */
const SAID = 'SYNOD_LACKS_SAID';

async function lacks(): Promise<readonly Lack[]> {
  const { isThere, why } = await findSandbox();
  const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
  const isRoot = process.getuid?.() === 0;
  return [
    {
      why: isThere ? null : `${why}: unpack the package bubblewrap into PATH, as .ci/run does`,
      unproved: 'that the guard holds a program in its sandbox [PO10] [PO14] [RU24]',
    },
    { why: NO_NATS, unproved: 'logs in JetStream and several servers [NL1] [SQ1] [JN1] [CH1]' },
    { why: NO_TMUX, unproved: 'what a person does at a terminal [TU3] [GT1]' },
    {
      why: hasOpenssl ? null : 'no openssl: install the package openssl',
      unproved: 'NATS behind TLS [NL7]',
    },
    {
      why: isRoot ? null : 'not root: run the tests as root, in a container',
      unproved: 'directories of other users, and disks that are full or read-only [ST1] [ST2]',
    },
    {
      why: process.env.SYNOD_SYNAPSE_CLI ? null : 'SYNOD_SYNAPSE_CLI names no program',
      unproved: 'the original of the Synapse door beside ours (optional)',
    },
  ];
}

export async function teardown(): Promise<void> {
  if (process.env[SAID] !== undefined) return;
  process.env[SAID] = '1';
  for (const { why, unproved } of await lacks()) {
    if (why !== null) process.stderr.write(`\nSKIPPED: ${unproved}\n  because ${why}\n`);
  }
}
