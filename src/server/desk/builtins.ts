/** The desk's own units, as plugins see them: the names they are ordered by. The desk does their work itself. */
import type { Builtin } from '../plugins/pipeline.ts';
import type { Reply } from '../plugins/reply.ts';
import type { Caller } from './caller.ts';

const pass = (_: object, next: () => Promise<Reply>): Promise<Reply> => next();

export function createBuiltins(callerOf: (context: object) => Caller | undefined): Builtin[] {
  return [
    { capability: 'namespace_resolver', run: pass },
    {
      capability: 'auth',
      run(context, next) {
        context.agentId = callerOf(context)?.principal.id ?? null;
        return next();
      },
    },
    { capability: 'rate_limit', run: pass },
    { capability: 'schema_validator', run: pass },
    { capability: 'idempotency', run: pass },
    { capability: 'audit_log', run: pass },
  ];
}
