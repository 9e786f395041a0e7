/** Who may ask for what: an operation's access rule against the caller's kind [I8]. */
import { type Refusal, refuse } from '../../core/law/decider.ts';
import type { Access } from '../../wire/operation.ts';
import type { Caller } from './caller.ts';

export function checkAccess(caller: Caller, access: Access): Refusal | null {
  const { kind } = caller.principal;
  switch (access) {
    case 'reader':
      return null;
    case 'writer':
      return kind === 'observer'
        ? refuse('access.denied', 'an observer reads and never writes')
        : null;
    case 'person':
      if (kind === 'human' || kind === 'admin') return null;
      return refuse(
        'access.denied',
        'this is for a person: use a credential of kind human or admin',
      );
    case 'admin':
      if (kind === 'admin') return null;
      return refuse('access.denied', 'this is for an administrator: use the owner’s credential');
    case 'owner':
      // A token, also an administrator's, is of one space and has no say over the others [SP5].
      if (kind === 'admin' && caller.isOwner) return null;
      return refuse('access.denied', 'this is for the hub’s owner: use the owner’s credential');
  }
}
