/**
 * A hub over a real log, in a time of its own: plays a story to it line by line, so that the same
 * story makes the same log on every machine.
 */
import { setImmediate } from 'node:timers/promises';
import { isRefusal } from '../../src/core/law/decider.ts';
import { decodeMessage } from '../../src/core/law/entry.ts';
import type { Command } from '../../src/core/law/world.ts';
import type { MessageRef } from '../../src/core/talk/message-id.ts';
import { type Hub, openHub } from '../../src/hub/hub.ts';
import type { Log } from '../../src/log/log.ts';
import { createChance } from '../../src/testing/chance.ts';
import { createVirtualClock, type VirtualClock } from '../../src/testing/virtual-clock.ts';
import { toCommand } from '../traces/command.ts';
import { type Asked, parseLine } from '../traces/script.ts';

export interface Stage {
  readonly hub: Hub;
  /** What went wrong without anyone having asked. */
  readonly troubles: readonly string[];
  /** Plays each line that is a command; a refusal is a mistake in the story. */
  play(lines: readonly string[]): Promise<void>;
  /** What the hub answers, once everything that can happen has happened. */
  settled<T>(answer: Promise<T>): Promise<T>;
  /** Closes the hub, which takes a snapshot. */
  close(): Promise<void>;
}

export function createClock(epoch: number): VirtualClock {
  return createVirtualClock(createChance(1), () => setImmediate(), epoch);
}

export async function openStage(log: Log, clock: VirtualClock): Promise<Stage> {
  const process = clock.fork();
  const refs = new Map<number, MessageRef>();
  const troubles: string[] = [];
  const hub = await openHub({
    space: 'golden',
    log,
    clock: process.clock,
    onTrouble: (what, cause) => troubles.push(`${what}: ${String(cause)}`),
  });

  async function settled<T>(answer: Promise<T>): Promise<T> {
    await clock.settle();
    return await answer;
  }

  async function learn(): Promise<void> {
    const entries = await hub.entries(0, Number.MAX_SAFE_INTEGER);
    for (const [position, entry] of entries.entries()) {
      const message = decodeMessage(entry);
      if (message === null) continue;
      const { channel, seq, by } = message;
      refs.set(position, { position, channel, seq, sender: by });
    }
  }

  async function ask(asked: Asked): Promise<void> {
    await learn();
    const command = await settled(hub.ask((world) => toCommand(asked, hub.stamp(), world, refs)));
    const outcome = isRefusal(command) ? command : await settled(hub.submit(command as Command));
    if (isRefusal(outcome)) throw new Error(`${asked.verb} was refused: ${outcome.message}`);
  }

  return {
    hub,
    troubles,
    settled,
    async play(lines) {
      for (const line of lines.filter((one) => one.startsWith('> '))) {
        const step = parseLine(line, {});
        if (step.kind === 'pass') await clock.pass(step.ms);
        else for (let turn = 1; turn <= step.times; turn++) await ask(step.at(turn));
      }
    },
    async close() {
      await settled(hub.close());
      process.kill();
    },
  };
}
