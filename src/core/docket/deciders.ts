/** Who decides each command of the docket. */
import { decideBlock, decideUnblock } from './blocked-session.ts';
import { decideClose, decideNotice, decideRaise, decideTake } from './docket-commands.ts';

export interface DocketDeciders {
  'docket.raise': typeof decideRaise;
  'docket.take': typeof decideTake;
  'docket.close': typeof decideClose;
  'docket.notice': typeof decideNotice;
  'docket.block': typeof decideBlock;
  'docket.unblock': typeof decideUnblock;
}

export const DOCKET_DECIDERS: DocketDeciders = {
  'docket.raise': decideRaise,
  'docket.take': decideTake,
  'docket.close': decideClose,
  'docket.notice': decideNotice,
  'docket.block': decideBlock,
  'docket.unblock': decideUnblock,
};
