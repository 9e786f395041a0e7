/**
 * Agents that the configuration manages: known to their space, subscribed, and managed as it says,
 * each time the hub starts. One that it names no more is left to itself. A hub does not start under
 * other rules than its operator wrote down: what is refused is told by its field [RU21].
 */
import { isRefusal } from '../../core/law/decider.ts';
import type { Operation } from '../../wire/operation.ts';
import { OPERATIONS } from '../../wire/operations/table.ts';
import type { Desk } from '../desk/desk.ts';
import { DEFAULT_SPACE } from '../desk/spaces.ts';
import type { ManagedAgent } from './config-file.ts';
import { readTurnSpaces, writeTurnSpaces } from './turn-spaces.ts';

export class ConfiguredAgentError extends Error {
  override readonly name = 'ConfiguredAgentError';
  readonly code = 'config.invalid';
}

export async function configureAgents(
  desk: Desk,
  dir: string,
  { agents }: { readonly agents: readonly ManagedAgent[] },
): Promise<void> {
  const known = readTurnSpaces(dir);
  const configured: string[] = [];
  for (const { id, namespace, managed } of agents) {
    const space = namespace ?? DEFAULT_SPACE;
    const { subscribe, ...rest } = managed;
    const field = `agents ${id}`;
    const act = { desk, space, field };
    // Its first call makes an agent known to its space.
    await call({ ...act, agent: id }, OPERATIONS['hub.whoami'], {});
    for (const pattern of subscribe ?? []) {
      await call({ ...act, agent: id }, OPERATIONS['channels.subscribe'], { pattern });
    }
    const input = { agent_id: id, ...rest };
    await call({ ...act, agent: null }, OPERATIONS['agents.manage'], input);
    configured.push(`${space}/${id}`);
  }
  for (const one of known.configured.filter((name) => !configured.includes(name))) {
    const at = one.indexOf('/');
    const [space, agent_id] = [one.slice(0, at), one.slice(at + 1)];
    const caller = await desk.authenticate(introduction(space, null));
    // What is not there any more needs no leaving.
    if (!isRefusal(caller)) await desk.call(caller, OPERATIONS['agents.unmanage'], { agent_id });
  }
  if (configured.length + known.configured.length === 0) return;
  writeTurnSpaces(dir, { ...readTurnSpaces(dir), configured });
}

interface Act {
  readonly desk: Desk;
  readonly space: string;
  /** Null: the owner. */
  readonly agent: string | null;
  readonly field: string;
}

async function call(
  { desk, space, agent, field }: Act,
  operation: Operation,
  input: object,
): Promise<void> {
  const caller = await desk.authenticate(introduction(space, agent));
  if (isRefusal(caller)) throw new ConfiguredAgentError(`${field}: ${caller.message}`);
  const answer = await desk.call(caller, operation, input);
  if ('error' in answer) throw new ConfiguredAgentError(`${field}: ${answer.error.message}`);
}

function introduction(space: string, agent: string | null): Parameters<Desk['authenticate']>[0] {
  return {
    ...{ token: null, agent, space, clientVersion: null, isOwnerSocket: true, wantsOwner: false },
    ...{ transport: 'http', connectionId: 'configuration' },
  };
}
