/** How each operation is carried out, all of them; one that is missing does not compile. */
import type { HandledId, Handlers } from '../room.ts';
import { adminHandlers } from './admin.ts';
import { auditHandlers } from './audit.ts';
import { channelHandlers } from './channels.ts';
import { claimHandlers } from './claims.ts';
import { clusterHandlers } from './cluster.ts';
import { clusterServerHandlers } from './cluster-servers.ts';
import { contextHandlers } from './context.ts';
import { digestHandlers } from './digest.ts';
import { docketHandlers } from './docket.ts';
import { findingHandlers } from './findings.ts';
import { gateHandlers } from './gates.ts';
import { groupHandlers } from './groups.ts';
import { guardHandlers } from './guard.ts';
import { inboxHandlers } from './inbox.ts';
import { offerHandlers } from './offers.ts';
import { passkeyHandlers } from './passkeys.ts';
import { peopleHandlers } from './people.ts';
import { planHandlers } from './plan.ts';
import { presenceHandlers } from './presence.ts';
import { processHandlers } from './processes.ts';
import { receiptHandlers } from './receipts.ts';
import { recordHandlers } from './record.ts';
import { recordHeadHandlers } from './record-head.ts';
import { searchHandlers } from './search.ts';
import { sessionHandlers } from './sessions.ts';
import { threadHandlers } from './threads.ts';
import { turnHandlers } from './turns.ts';
import { vitalsHandlers } from './vitals.ts';
import { webHandlers } from './web.ts';
import { workflowHandlers } from './workflows.ts';

export const HANDLERS: Handlers<HandledId> = {
  ...channelHandlers,
  ...receiptHandlers,
  ...recordHandlers,
  ...recordHeadHandlers,
  ...groupHandlers,
  ...inboxHandlers,
  ...adminHandlers,
  ...clusterHandlers,
  ...clusterServerHandlers,
  ...claimHandlers,
  ...planHandlers,
  ...offerHandlers,
  ...findingHandlers,
  ...guardHandlers,
  ...docketHandlers,
  ...presenceHandlers,
  ...gateHandlers,
  ...peopleHandlers,
  ...passkeyHandlers,
  ...turnHandlers,
  ...processHandlers,
  ...contextHandlers,
  ...sessionHandlers,
  ...workflowHandlers,
  ...vitalsHandlers,
  ...webHandlers,
  ...searchHandlers,
  ...auditHandlers,
  ...threadHandlers,
  ...digestHandlers,
};
