/**
 * What a person may set of a vendor's program, by name, in `runner.options`. What is not in a vendor's list
 * is refused by field when the agent is configured [RV7]: a switch that would take the person out of
 * the loop is in none of them.
 */
import { type Refusal, refuse } from '../../../core/law/decider.ts';
import { UNASKED_MODE } from '../../../vendor/acp-agent.ts';
import type { VendorKind, VendorSpec } from './sign-in.ts';

type Check = readonly string[] | 'text' | 'count' | 'money' | 'name';

const TOGETHER: Readonly<Record<string, Check>> = { instructions: 'text', ask_seconds: 'count' };

const OPTIONS: Readonly<Record<VendorKind, Readonly<Record<string, Check>>>> = {
  claude: {
    ...TOGETHER,
    max_turns: 'count',
    max_budget_usd: 'money',
    permission_mode: ['default', 'acceptEdits', 'plan', 'dontAsk'],
    allowed_tools: 'text',
    disallowed_tools: 'text',
    effort: ['low', 'medium', 'high', 'xhigh', 'max'],
    settings: ['none', 'project'],
  },
  codex: {
    ...TOGETHER,
    max_tokens: 'count',
    sandbox: ['read-only', 'workspace-write'],
    approval_policy: ['untrusted', 'on-request', 'never'],
    effort: ['minimal', 'low', 'medium', 'high', 'xhigh'],
  },
  acp: { ...TOGETHER, max_tokens: 'count', mode: 'text', auth_method: 'text', secret_env: 'name' },
};

export function checkOptions({ kind, options = {}, model }: VendorSpec): Refusal | null {
  const known = OPTIONS[kind];
  if (kind === 'acp' && model !== undefined) {
    const message = 'ACP has no word for the model: name it in the arguments of command';
    return refuse('runner.unusable', message, { field: 'model' });
  }
  if (UNASKED_MODE.test(String(options.mode ?? ''))) {
    const message = 'options.mode: a mode in which the agent asks nobody is not for a turn';
    return refuse('runner.unusable', message, { field: 'options.mode' });
  }
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(known, name) ? known[name] : undefined;
    const trouble =
      check === undefined
        ? `there is no such option; those of ${kind} are ${Object.keys(known).join(', ')}`
        : troubleOf(check, value);
    if (trouble === null) continue;
    const field = `options.${name}`;
    return refuse('runner.unusable', `${field}: ${trouble}`, { field });
  }
  return null;
}

function troubleOf(check: Check, value: string | number | boolean): string | null {
  if (check === 'text') return typeof value === 'string' && value !== '' ? null : 'it is a text';
  if (check === 'name') {
    return typeof value === 'string' && /^[A-Za-z_]\w*$/.test(value) ? null : 'it names a variable';
  }
  if (check === 'count')
    return Number.isInteger(value) && Number(value) > 0 ? null : 'it counts from 1';
  if (check === 'money') {
    return typeof value === 'number' && value > 0 ? null : 'it is an amount of dollars above 0';
  }
  return check.some((one) => one === value) ? null : `it is one of ${check.join(', ')}`;
}

export function textOption({ options }: VendorSpec, name: string): string | null {
  const value = options?.[name];
  return typeof value === 'string' ? value : null;
}

export function numberOption({ options }: VendorSpec, name: string): number | null {
  const value = options?.[name];
  return typeof value === 'number' ? value : null;
}
