/** Writes one line of the probe's log, from inside a process that a vendor started. */
import { appendFileSync } from 'node:fs';
import type { ProbeRecord } from './probe.ts';

/** Variables that name a session, a process or a project; never one that is a key. */
const TELLING = /^(CLAUDE|CODEX|GEMINI|OPENCODE|AI_AGENT|AGENT)/;
const SECRET = /KEY|TOKEN|SECRET|PASSWORD/;

export function record(
  log: string,
  kind: ProbeRecord['kind'],
  event: string,
  input: unknown = {},
): void {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => TELLING.test(name) && !SECRET.test(name)),
  );
  appendFileSync(log, `${JSON.stringify({ kind, event, input, parent: process.ppid, env })}\n`);
}
