/**
 * The means that any agent has, whoever made it: `synod arm` in the background, tried here for real.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { dmName } from '../../core/law/name.ts';
import type { Launch } from '../install/world.ts';
import { canaryBody, createMark, type DoctorHub, isRefused, takeLeave, WITNESS } from './canary.ts';
import type { Environment } from './vendor-env.ts';
import type { WakeRow } from './wake-hop.ts';

const ARM_SECONDS = 10;
const SENDER = `${WITNESS}-arm`;

export async function tryArm(
  hub: DoctorHub,
  { node, program }: Launch,
  clean: Environment,
): Promise<WakeRow> {
  const row = { vendor: 'any', means: 'synod arm', ms: null, isFault: false } as const;
  const mark = createMark();
  const args = [program, 'arm', '--as', WITNESS, '--from', 'now', '--timeout', `${ARM_SECONDS}`];
  const child = spawn(node, args, { env: clean, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = text(child.stdout);
  const ended = once(child, 'close');
  try {
    const lines = createInterface({ input: child.stderr });
    const [line] = await Promise.race([once(lines, 'line'), ended.then(() => [''])]);
    if (line !== 'armed') return { ...row, works: false, note: `it did not arm: ${line}` };
    const from = performance.now();
    const sent = await hub.call(SENDER, 'channels.send', {
      channel: dmName(WITNESS, SENDER),
      body: canaryBody(mark),
    });
    if (isRefused(sent)) return { ...row, works: false, note: sent.message };
    const isWoken = (await printed).includes(mark);
    const ms = performance.now() - from;
    return isWoken
      ? {
          ...row,
          works: true,
          ms,
          note: 'tried: woken, for an agent that runs it in the background',
        }
      : { ...row, works: false, note: `nothing came within ${ARM_SECONDS} s` };
  } catch (error) {
    return { ...row, works: false, note: (error as Error).message };
  } finally {
    child.kill();
    await takeLeave(hub, SENDER);
  }
}
