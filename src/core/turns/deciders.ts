/** Who decides each command of turns and managed agents. */
import { decideManaged } from './managed.ts';
import { decideCancel, decideFinish, decideRenew, decideRetry, decideTake } from './turn.ts';

export interface TurnDeciders {
  'agent.manage': typeof decideManaged;
  'agent.unmanage': typeof decideManaged;
  'agent.pause': typeof decideManaged;
  'agent.resume': typeof decideManaged;
  'turn.take': typeof decideTake;
  'turn.renew': typeof decideRenew;
  'turn.finish': typeof decideFinish;
  'turn.cancel': typeof decideCancel;
  'turn.retry': typeof decideRetry;
}

export const TURN_DECIDERS: TurnDeciders = {
  'agent.manage': decideManaged,
  'agent.unmanage': decideManaged,
  'agent.pause': decideManaged,
  'agent.resume': decideManaged,
  'turn.take': decideTake,
  'turn.renew': decideRenew,
  'turn.finish': decideFinish,
  'turn.cancel': decideCancel,
  'turn.retry': decideRetry,
};
