/** All that runs turns, put together: the runners, their record on disk, transcripts, the supervisor. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Bus } from '../../bus/router/bus.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { RunnerSpec } from '../../wire/operations/runner-spec.ts';
import type { Desk } from '../desk/desk.ts';
import { createChooser, type RunnerChooser } from './choose-runner.ts';
import { createCommandRunner } from './command.ts';
import { openLiveRecord } from './live-record.ts';
import type { Servers } from './lost-turns.ts';
import { createModelRunner } from './model.ts';
import { openOwnTurns } from './own-turns.ts';
import { createPoolRunner } from './pool.ts';
import { createRuleRunner } from './rule.ts';
import { createSupervisor, type Supervisor } from './supervisor.ts';
import { createTranscripts, type Transcripts } from './transcripts.ts';
import { createTurnAgent } from './turn-agent.ts';
import { createAcpRunner } from './vendors/acp.ts';
import { createClaudeRunner } from './vendors/claude.ts';
import { createCodexRunner } from './vendors/codex.ts';

export interface RunnersOptions {
  /** The data directory. */
  readonly dir: string;
  /** Where turns may work. */
  readonly roots: readonly string[];
  /** Runners that the configuration names. */
  readonly named: ReadonlyMap<string, RunnerSpec>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly desk: Desk;
  readonly url: string;
  readonly telemetry?: Telemetry | null;
  /** Of the cluster; null where this one is alone. */
  readonly servers: Servers | null;
  bus(): Bus | null;
  newSecret(): string;
  digest(text: string): string;
  warn(line: string): void;
  onFailure(what: string, cause: unknown): void;
}

export interface OpenRunners {
  readonly chooser: RunnerChooser;
  readonly supervisor: Supervisor;
  readonly transcripts: Transcripts;
  close(): Promise<void>;
}

export const RECORD_NAME = 'live';

/** What a hub before this one left running is ended first. */
export async function openRunners(options: RunnersOptions): Promise<OpenRunners> {
  const { dir, roots, env, desk } = options;
  const own = join(dir, 'turns');
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const record = await openLiveRecord(join(own, RECORD_NAME));
  const rule = createRuleRunner();
  const places = { roots, dir };
  const runners = {
    ...{ rule, command: createCommandRunner({ record }), model: createModelRunner(env) },
    pool: createPoolRunner(options.bus),
    claude: createClaudeRunner({ env, record }),
    codex: createCodexRunner({ env, record }),
    acp: createAcpRunner({ env, record }),
  };
  const chooser = createChooser(runners, options.named, places);
  const transcripts = createTranscripts(join(own, 'transcripts'));
  const supervisor = createSupervisor({
    ...options,
    ...{ chooser, places, transcripts, own: openOwnTurns(join(own, 'running')) },
    openAgent: (token, turnId) => createTurnAgent(desk, token, turnId),
  });
  return {
    ...{ chooser, supervisor, transcripts },
    async close() {
      await supervisor.close();
      rule.close();
    },
  };
}
