/** What the launcher itself says: who is in its registry, and what to do about an agent that wants a login. */
import { type JsonObject, textAt } from '../process/json-object.ts';
import { CODE } from './program-error.ts';
import type { Registry } from './registry-file.ts';

export const LISTED_MAX = 200;

export function introduction(registry: Registry, version: string): JsonObject {
  const listed = [...registry.values()].slice(0, LISTED_MAX);
  return {
    protocolVersion: 1,
    agentInfo: { name: 'synod-registry', title: 'Synod registry', version },
    agentCapabilities: {},
    authMethods: [],
    _meta: {
      'synod/agents': listed.map((one) => ({
        ...{ id: one.id, name: one.name, version: one.version, description: one.description },
      })),
    },
  };
}

/** Any other error stays as it is; `tried` is why a login did not come about. */
export function authError(
  agent: { readonly id: string; readonly authMethods: readonly unknown[] },
  error: JsonObject,
  tried: string | null,
): JsonObject {
  if (error.code !== CODE.authRequired) return error;
  const supportedMethods = agent.authMethods.map((one) => textAt(one, 'id') ?? null);
  const remediation = `log in with the agent's own tool, or give it a key or a login: synod worker registry --setup, --login`;
  return {
    code: -32_004,
    message: `${agent.id} wants authentication${tried === null ? '' : `: ${tried}`}`,
    data: {
      ...{ agentId: agent.id, requiredMethod: supportedMethods[0] ?? null, supportedMethods },
      ...{ remediation, original: error },
    },
  };
}
