/**
 * Claims the code makes about itself. A broken claim is a bug: it throws, and
 * whoever runs the core must stop trusting the state in memory.
 */
export function assert(claim: unknown, message: string): asserts claim {
  if (!claim) throw new Error(`bug: ${message}`);
}

export function unreachable(value: never): never {
  throw new Error(`bug: unexpected ${JSON.stringify(value)}`);
}
