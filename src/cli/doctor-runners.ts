/**
 * The doctor at the runners of managed agents: which program a turn would start, of which version, whether
 * it can do what a turn needs, and which account it would bill [DO12]. The programs are asked for their
 * version and their sign-in, and no model is.
 */
import { type DoctorHub, isRefused } from '../harness/doctor/canary.ts';
import { type Found, fail, ok, skip } from '../harness/doctor/hop.ts';
import { createAcpRunner } from '../server/runners/vendors/acp.ts';
import { createClaudeRunner } from '../server/runners/vendors/claude.ts';
import { createCodexRunner } from '../server/runners/vendors/codex.ts';
import type { VendorFacts } from '../server/runners/vendors/vendor-runner.ts';
import { type RunnerSpec, runnerSpec } from '../wire/operations/runner-spec.ts';

const AGENTS_MAX = 200;

export interface ManagedRow {
  readonly agent_id: string;
  readonly runner: Readonly<Record<string, unknown>>;
}

export interface ExamineRunnersOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** No program of a vendor is started. */
  readonly isQuick: boolean;
}

/** Those that the hub runs; none where it would not say. */
export async function readManaged(hub: DoctorHub): Promise<ManagedRow[]> {
  const rows: ManagedRow[] = [];
  for (let after: string | undefined; rows.length < AGENTS_MAX; ) {
    const asked = await hub.call(null, 'agents.managed', after === undefined ? {} : { after });
    if (isRefused(asked)) break;
    rows.push(...asked.answer.agents);
    if (asked.answer.next === null) break;
    after = asked.answer.next;
  }
  return rows;
}

export async function examineRunners(
  agents: readonly ManagedRow[],
  { env, isQuick }: ExamineRunnersOptions,
): Promise<Found[]> {
  const vendors = {
    claude: createClaudeRunner({ env }),
    codex: createCodexRunner({ env }),
    acp: createAcpRunner({ env }),
  };
  const describe = (spec: RunnerSpec): Promise<VendorFacts> | null => {
    if (spec.kind === 'claude') return vendors.claude.describe(spec);
    if (spec.kind === 'codex') return vendors.codex.describe(spec);
    return spec.kind === 'acp' ? vendors.acp.describe(spec) : null;
  };
  const found: Found[] = [];
  for (const { agent_id: agent, runner } of agents) {
    const { data: spec } = runnerSpec().safeParse(runner);
    if (spec === undefined || !['claude', 'codex', 'acp'].includes(spec.kind)) continue;
    if (isQuick) {
      found.push(skip('runner', `${agent}: ${spec.kind}, not asked with --quick`));
      continue;
    }
    const facts = await describe(spec);
    if (facts !== null) found.push(judge(agent, facts));
  }
  return found;
}

function judge(agent: string, { program, version, trouble, bills }: VendorFacts): Found {
  const what = `${agent}: ${program} ${version ?? 'of unknown version'}`;
  if (trouble !== null) return fail('runner', `${what}: ${trouble}`, `synod turns pause ${agent}`);
  return ok('runner', `${what}; a turn bills ${bills}`);
}
