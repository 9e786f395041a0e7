/**
 * A line of a script as the command it stands for. What a door would look up first (which message is
 * meant, what is owed) is looked up in the world here; what is long and always the same is filled in.
 */
import { isRefusal, type Refusal } from '../../src/core/law/decider.ts';
import type { WorldView } from '../../src/core/law/state.ts';
import type { Command } from '../../src/core/law/world.ts';
import type { Item } from '../../src/core/sessions/session-events.ts';
import { peek } from '../../src/core/talk/inbox.ts';
import type { MessageRef } from '../../src/core/talk/message-id.ts';
import { WAKE_ALWAYS } from '../../src/core/turns/wake-rule.ts';
import type { CardFields } from '../../src/core/work/card-fields.ts';
import type { Finding } from '../../src/core/work/finding-gate.ts';
import type { Asked } from './script.ts';

/** The command, or why there is none: looking up what is owed may be refused already. */
export function toCommand(
  { by, verb, fields }: Asked,
  at: number,
  world: WorldView,
  refs: ReadonlyMap<number, MessageRef>,
): Command | Refusal {
  const command: Record<string, unknown> = { type: verb, by, at, ...fields };
  if (typeof fields.scope === 'string') command.scope = scopeOf(fields.scope);
  if (typeof fields.target === 'number') {
    // One that was never sent is what a door would have refused; the law is asked all the same.
    command.target = refs.get(fields.target) ?? nowhere(fields.target);
  }
  if (typeof fields.root === 'number') {
    const { owners, ...rest } = command;
    const root = { ...(refs.get(fields.root) ?? nowhere(fields.root)), owners: [owners].flat() };
    return { ...rest, root } as unknown as Command;
  }
  if (typeof fields.items === 'string') command.items = fields.items.split(',').map(itemOf);
  if (typeof fields.summary === 'string') command.summary = itemOf(fields.summary);
  if (verb === 'inbox.present') command.shown = new Set([fields.shown].flat());
  if (verb === 'inbox.drain') {
    const { max, channels, expired, leaseMs } = fields;
    const owed = peek(world, by.id, channels as string[] | null, max as number);
    if (isRefusal(owed)) return owed;
    return {
      type: verb,
      by,
      at,
      owed,
      expired: new Set([expired].flat() as number[]),
      leaseMs,
    } as Command;
  }
  if (verb === 'agent.manage') {
    const { agent, runnerKind, wake, limits, session } = fields;
    const runner = JSON.stringify({ kind: runnerKind });
    const rule = { ...WAKE_ALWAYS, ...(wake as object) };
    const config = { runner, runnerKind, wake: rule, limits, session };
    return { type: verb, by, at, agent, config } as Command;
  }
  if (verb === 'agent.define' && fields.card !== null) {
    command.card = cardOf(fields.card as Record<string, unknown>);
  }
  if (verb === 'card.advertise') {
    return { type: verb, by, at, card: cardOf(fields) };
  }
  if (verb === 'finding.record') {
    return { type: verb, by, at, finding: { ...NO_FINDING, ...fields } as Finding };
  }
  return command as unknown as Command;
}

/** `src/**,docs/a.md` are paths of the one worktree there is in a script. */
function scopeOf(paths: string): unknown {
  return { worktree: 'w', branch: null, paths: paths.split(',') };
}

/** `user`, `note`, `call/c1`, `result/c1`: an item of a session, with a body that says as much. */
function itemOf(text: string): Item {
  const [kind = '', callId = ''] = text.split('/');
  const body = { content: text };
  if (kind === 'call') return { kind: 'tool_call', callId, name: 'tool', body };
  if (kind === 'result') return { kind: 'tool_result', callId, outcome: 'ok', body };
  return { kind: kind as Item['kind'], body };
}

function nowhere(position: number): MessageRef {
  return { position, channel: 'nowhere', seq: 1, sender: 'nobody' };
}

function cardOf(fields: Readonly<Record<string, unknown>>): CardFields {
  const { name, skill, ...rest } = fields as { name: string; skill: string };
  return {
    name,
    description: '',
    version: '1',
    supportedInterfaces: [],
    capabilities: {
      streaming: false,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: [],
    },
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [
      {
        id: skill,
        name: skill,
        description: '',
        tags: [],
        examples: [],
        inputModes: [],
        outputModes: [],
      },
    ],
    provider: null,
    documentationUrl: null,
    iconUrl: null,
    taskClasses: [],
    model: null,
    meta: null,
    ...rest,
  };
}

const NO_FINDING: Finding = {
  statement: '',
  subkind: 'decision',
  evidenceKind: null,
  claimStatus: null,
  freshness: null,
  evidenceRef: null,
  provenance: { project: 'p', session: null, sourceEventSeq: null, ts: null, actor: null },
  validity: { validFrom: null, validTo: null },
  lifecycle: null,
  supersedes: null,
  verifiedAtSource: null,
  producerConfidence: null,
  executionSubstrate: null,
  entities: [],
  tags: [],
};
