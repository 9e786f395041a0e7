/**
 * An ACP agent that sends small work to a small model, large work to a large one and settled
 * questions to rules. A tier that fails before it has said anything hands over to the next one, and
 * the client is told which and why; after the first word there is no second opinion, only the error.
 */

import { type JsonObject, textAt } from '../process/json-object.ts';
import type { AnswerTurn, Brain, Outcome } from './acp-agent.ts';
import { serveAcp } from './acp-front.ts';
import { chooseModelTier, fallbacksOf, type ModelTier, type ModelTiers } from './model-tiers.ts';
import { chat, noteMissingKey } from './openai.ts';
import { CODE, messageOfError, ProgramError } from './program-error.ts';
import { answerTurnByRule } from './rule.ts';
import type { LineIo } from './stdio-lines.ts';

export function runTiered(
  options: { readonly tiers: ModelTiers; readonly version: string },
  io: LineIo,
): Promise<void> {
  for (const tier of options.tiers.tiers.values()) {
    if (tier.kind === 'chat') noteMissingKey(tier.chat, io.note);
  }
  const brain: Brain = {
    name: 'synod-tiered',
    title: 'Synod tiers',
    takesImages: true,
    answer: (turn) => answerByTier(options.tiers, turn),
  };
  return serveAcp({ brain, version: options.version }, io);
}

interface Failed {
  readonly tier: string;
  readonly reason: string;
}

export async function answerByTier(config: ModelTiers, turn: AnswerTurn): Promise<Outcome> {
  const choice = chooseModelTier(config, turn.text, textAt(turn.meta, 'taskClass') ?? null);
  const failed: Failed[] = [];
  for (const name of [choice.tier, ...fallbacksOf(config, choice.tier)]) {
    const tier = config.tiers.get(name);
    if (tier === undefined) continue;
    if (failed.length > 0) await tell(turn, name, failed);
    let hasSpoken = false;
    const listening: AnswerTurn = {
      ...turn,
      async say(text) {
        hasSpoken = true;
        await turn.say(text);
      },
    };
    try {
      const outcome = await answerBy(tier, listening);
      return { ...outcome, meta: metaOf(name, choice.why, failed) };
    } catch (error) {
      turn.signal.throwIfAborted();
      if (hasSpoken) throw interrupted(error, { tier: name, fallbacks: failed });
      failed.push({ tier: name, reason: messageOfError(error) });
    }
  }
  const reasons = failed.map(({ tier, reason }) => `${tier}: ${reason}`).join('; ');
  throw new ProgramError(CODE.unavailable, `no tier could answer: ${reasons}`, {
    retryable: true,
    fallbacks: failed,
  });
}

function interrupted(error: unknown, where: JsonObject): ProgramError {
  const { code, detail } =
    error instanceof ProgramError ? error : { code: CODE.internal, detail: {} };
  return new ProgramError(code, messageOfError(error), { ...detail, ...where }, { cause: error });
}

function answerBy(tier: ModelTier, turn: AnswerTurn): Promise<Outcome> {
  return tier.kind === 'rule' ? answerTurnByRule(tier.rules, turn) : chat(tier.chat, turn);
}

/** Told as a thought beside the answer, so that it is not mistaken for the model's words. */
async function tell(turn: AnswerTurn, next: string, failed: readonly Failed[]): Promise<void> {
  const { tier, reason } = failed.at(-1) as Failed;
  const text = `${tier} could not answer (${reason}); ${next} answers instead`;
  await turn.update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } });
}

function metaOf(tier: string, why: string, fallbacks: readonly Failed[]): JsonObject {
  return { 'synod/tier': tier, 'synod/why': why, 'synod/fallbacks': fallbacks };
}
