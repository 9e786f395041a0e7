/**
 * The workers that answer: from rules, from a model, or from tiers of both. Each runs on its pipes as
 * an ACP agent, or with `--on CHANNEL` as an agent of a hub.
 */
import type { Command } from 'commander';
import type { ModelTier } from '../bus/programs/model-tiers.ts';
import type { ChatOptions } from '../bus/programs/openai.ts';
import { readJsonFile } from './body-input.ts';
import { collect } from './context.ts';
import { fail } from './failure.ts';
import { parseDurationMs } from './parse-value.ts';
import { addChannelFlags, answerOn, type ChannelFlags, onChannel } from './worker-channel.ts';
import { serve, version } from './worker-serve.ts';

export function registerModels(worker: Command): void {
  registerOpenai(
    worker
      .command('openai')
      .alias('openai-agent')
      .description('a chat completions endpoint as an agent; key in OPENAI_API_KEY'),
    {},
    'OPENAI_API_KEY',
  );
  registerOpenai(
    worker.command('ollama').description('a model of the Ollama on this machine as an agent'),
    { baseUrl: OLLAMA_URL, model: OLLAMA_MODEL },
    // A key of another endpoint is not for this one.
    'OLLAMA_API_KEY',
  );
  registerRule(worker);
  registerTiered(worker);
}

const OLLAMA_URL = 'http://127.0.0.1:11434/v1';
const OLLAMA_MODEL = 'llama3';

interface OpenaiFlags extends ChannelFlags {
  readonly baseUrl?: string;
  readonly model?: string;
  readonly systemPrompt?: string;
  readonly maxTokens?: string;
  readonly temperature?: string;
  readonly idleTimeout?: string;
  readonly timeout?: string;
}

function registerOpenai(
  command: Command,
  usual: { readonly baseUrl?: string; readonly model?: string },
  keyVariable: string,
): void {
  const kind = command.name();
  command
    .option('--base-url <url>', usual.baseUrl ?? 'OPENAI_BASE_URL')
    .option('--model <name>', usual.model ?? 'OPENAI_MODEL')
    .option('--system-prompt <text>', 'OPENAI_SYSTEM_PROMPT')
    .option('--max-tokens <number>', 'OPENAI_MAX_TOKENS')
    .option('--temperature <number>', 'OPENAI_TEMPERATURE')
    .option('--idle-timeout <time>', 'between two pieces of an answer (60s)')
    .option('--timeout <time>', 'for a whole answer (10m)');
  addChannelFlags(command);
  serve<OpenaiFlags>(command, kind, async (io, flags) => {
    const { chat, hostBeyond, noteMissingKey, readChatOptions, runOpenai } = await import(
      '../bus/programs/openai.ts'
    );
    const { idleTimeout, timeout } = flags;
    const said = {
      ...usual,
      ...flags,
      ...(idleTimeout !== undefined && {
        idleMs: parseDurationMs(idleTimeout, '--idle-timeout'),
      }),
      ...(timeout !== undefined && { totalMs: parseDurationMs(timeout, '--timeout') }),
    };
    const options = readChatOptions(process.env, said, keyVariable);
    if (flags.on === undefined) return runOpenai({ ...options, version: await version() }, io);
    noteMissingKey(options, io.note);
    const told = onChannel(options);
    await answerOn(flags, {
      ...{ kind, model: options.endpoint.model, leavesTo: hostBeyond(options) },
      answer: (turn) => chat(told, turn),
    });
  });
}

interface RuleFlags extends ChannelFlags {
  readonly rules?: string;
  readonly rule?: readonly string[];
  readonly otherwise?: string;
}

function registerRule(worker: Command): void {
  const command = worker
    .command('rule')
    .description('an agent that answers from rules, without any network')
    .option('--rules <file>', '{"rules": [{"pattern", "answer"}], "otherwise"}')
    .option('--rule <pattern => answer>', 'one rule; may be repeated, tried first', collect)
    .option('--otherwise <text>', 'the answer when no rule matches');
  addChannelFlags(command);
  serve<RuleFlags>(command, 'rule', async (io, flags) => {
    const { answerTurnByRule, parseRuleFlag, parseRuleSet, runRule } = await import(
      '../bus/programs/rule.ts'
    );
    const { rules: path } = flags;
    if (path === undefined && flags.rule === undefined && flags.otherwise === undefined) {
      throw fail('cli.usage', 'synod worker rule wants --rules, --rule or --otherwise');
    }
    const file =
      path === undefined
        ? { rules: [], otherwise: null }
        : parseRuleSet(await readJsonFile(path), path);
    const own = (flags.rule ?? []).map(parseRuleFlag);
    const rules = {
      rules: [...own, ...file.rules],
      otherwise: flags.otherwise ?? file.otherwise,
    };
    if (flags.on === undefined) return runRule({ rules, version: await version() }, io);
    await answerOn(flags, {
      ...{ kind: 'rule', model: null, leavesTo: null },
      answer: (turn) => answerTurnByRule(rules, turn),
    });
  });
}

function registerTiered(worker: Command): void {
  const command = worker
    .command('tiered')
    .description('an agent that picks a tier by task class, length or keyword')
    .requiredOption('--config <file>', 'tiers, classes, routes, default, fallback');
  addChannelFlags(command);
  serve<ChannelFlags & { config: string }>(command, 'tiered', async (io, flags) => {
    const { config: path } = flags;
    const { parseModelTiers } = await import('../bus/programs/model-tiers.ts');
    const { answerByTier, runTiered } = await import('../bus/programs/tiered.ts');
    const tiers = parseModelTiers(await readJsonFile(path), path, process.env);
    if (flags.on === undefined) return runTiered({ tiers, version: await version() }, io);
    const { hostBeyond, noteMissingKey } = await import('../bus/programs/openai.ts');
    const chats: ChatOptions[] = [];
    const told = new Map<string, ModelTier>();
    for (const [name, tier] of tiers.tiers) {
      told.set(name, tier.kind === 'rule' ? tier : { ...tier, chat: onChannel(tier.chat) });
      if (tier.kind === 'rule') continue;
      chats.push(tier.chat);
      noteMissingKey(tier.chat, io.note);
    }
    const hosts = new Set(chats.map(hostBeyond).filter((host) => host !== null));
    await answerOn(flags, {
      ...{ kind: 'tiered', model: chats.map(({ endpoint }) => endpoint.model).join(', ') || null },
      leavesTo: [...hosts].join(', ') || null,
      answer: (turn) => answerByTier({ ...tiers, tiers: told }, turn),
    });
  });
}
