/** Who decides each command of sessions and hand-offs. */
import { decideHandOff } from './hand-off.ts';
import { decideCompact, decideFork, decideRewind } from './history.ts';
import { decideAppend, decideClose, decideCreate, decideShare } from './session.ts';

export interface SessionDeciders {
  'session.create': typeof decideCreate;
  'session.append': typeof decideAppend;
  'session.fork': typeof decideFork;
  'session.rewind': typeof decideRewind;
  'session.compact': typeof decideCompact;
  'session.share': typeof decideShare;
  'session.close': typeof decideClose;
  'session.hand-off': typeof decideHandOff;
}

export const SESSION_DECIDERS: SessionDeciders = {
  'session.create': decideCreate,
  'session.append': decideAppend,
  'session.fork': decideFork,
  'session.rewind': decideRewind,
  'session.compact': decideCompact,
  'session.share': decideShare,
  'session.close': decideClose,
  'session.hand-off': decideHandOff,
};
