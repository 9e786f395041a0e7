/** How each operation is carried out, all of them; one that is missing does not compile. */
import type { HandledId, Handlers } from '../room.ts';
import { adminHandlers } from './admin.ts';
import { channelHandlers } from './channels.ts';
import { claimHandlers } from './claims.ts';
import { docketHandlers } from './docket.ts';
import { findingHandlers } from './findings.ts';
import { groupHandlers } from './groups.ts';
import { inboxHandlers } from './inbox.ts';
import { offerHandlers } from './offers.ts';
import { planHandlers } from './plan.ts';
import { presenceHandlers } from './presence.ts';
import { receiptHandlers } from './receipts.ts';

export const HANDLERS: Handlers<HandledId> = {
  ...channelHandlers,
  ...receiptHandlers,
  ...groupHandlers,
  ...inboxHandlers,
  ...adminHandlers,
  ...claimHandlers,
  ...planHandlers,
  ...offerHandlers,
  ...findingHandlers,
  ...docketHandlers,
  ...presenceHandlers,
};
