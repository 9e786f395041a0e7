/** How much of what is bounded each agent has made: its share of it [SH1]. */

/** By agent; a name that made nothing is not there. */
export interface Made {
  readonly channels: Map<string, number>;
  /** Names it made known that have not come by themselves. */
  readonly agents: Map<string, number>;
  readonly groups: Map<string, number>;
  readonly keys: Map<string, number>;
  readonly held: Map<string, number>;
  /** Tokens that are not revoked. */
  readonly tokens: Map<string, number>;
  /** Characters of descriptions of channels. */
  readonly described: Map<string, number>;
}

export function createMade(): Made {
  return {
    channels: new Map(),
    agents: new Map(),
    groups: new Map(),
    keys: new Map(),
    held: new Map(),
    tokens: new Map(),
    described: new Map(),
  };
}
