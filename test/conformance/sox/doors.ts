/**
 * The doors of a server, behind one interface.
 *
 * A door carries one call of one agent and brings back the answer as that door
 * gives it: the output or the refusal envelope, and the pipeline trace when the
 * door was opened with `trace`. It throws when the door itself misbehaves, such as
 * a refusal with a 2xx status, or an MCP result whose two forms differ.
 */

import {
  type Answer,
  CALL_TIMEOUT_MS,
  type Door,
  type DoorOptions,
  identityHeaders,
} from './door.ts';
import { isObject } from './match.ts';
import { openMcpDoor } from './mcp-door.ts';

export const DOORS = ['http', 'mcp-http', 'mcp-stdio'] as const;
export type DoorName = (typeof DOORS)[number];

export function openDoor(name: DoorName, options: DoorOptions): Door {
  return name === 'http' ? openHttpDoor(options) : openMcpDoor(name, options);
}

function openHttpDoor(options: DoorOptions): Door {
  return {
    async call({ agent, op, input, clientVersion }) {
      const response = await fetch(new URL(`/v1/ops/${op}`, options.url), {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          ...identityHeaders(agent, options),
          ...(clientVersion === undefined ? {} : { 'X-SOX-Client-Version': clientVersion }),
          ...(options.trace ? { 'X-SOX-Trace': '1' } : {}),
        },
        body: JSON.stringify(input),
        signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
      });
      const body: unknown = await response.json();
      if (!isObject(body)) throw new Error(`${op} answered no object: ${JSON.stringify(body)}`);
      if (response.ok === 'error_code' in body) {
        throw new Error(`${op} answered ${response.status} with ${JSON.stringify(body)}`);
      }
      return { isError: !response.ok, ...splitTrace(body, options) };
    },
    async close() {},
  };
}

// Only what was asked for is taken out, so metadata that nobody asked for stays and is a fault.
function splitTrace(body: Record<string, unknown>, options: DoorOptions): Omit<Answer, 'isError'> {
  if (!options.trace) return { output: body };
  const { metadata, ...output } = body;
  return { output, trace: isObject(metadata) ? metadata.pipeline_trace : undefined };
}
