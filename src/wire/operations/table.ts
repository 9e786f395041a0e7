/**
 * Every operation there is, in the order the doors list them. A new operation is
 * declared in the file of its noun, entered here, and carried out in desk/; the
 * compiler names what is missing.
 */
import type { Operation } from '../operation.ts';
import { toolName } from '../operation.ts';
import * as admin from './admin.ts';
import * as audit from './audit.ts';
import * as channels from './channels.ts';
import * as claims from './claims.ts';
import * as cluster from './cluster.ts';
import * as clusterServers from './cluster-servers.ts';
import * as context from './context.ts';
import * as docket from './docket.ts';
import * as findings from './findings.ts';
import * as gates from './gates.ts';
import * as groups from './groups.ts';
import * as guard from './guard.ts';
import * as inbox from './inbox.ts';
import * as offers from './offers.ts';
import * as passkeys from './passkeys.ts';
import * as people from './people.ts';
import * as plan from './plan.ts';
import * as presence from './presence.ts';
import * as processes from './processes.ts';
import * as receipts from './receipts.ts';
import * as record from './record.ts';
import { recordHead } from './record-head.ts';
import * as search from './search.ts';
import * as sessions from './sessions.ts';
import * as threads from './threads.ts';
import * as turns from './turns.ts';
import * as vitals from './vitals.ts';
import * as web from './web.ts';
import * as workflows from './workflows.ts';

export const OPERATIONS = {
  'channels.send': channels.send,
  'channels.recv': channels.recv,
  'channels.subscribe': channels.subscribe,
  'channels.unsubscribe': channels.unsubscribe,
  'channels.list_channels': channels.listChannels,
  'channels.list_agents': channels.listAgents,
  'channels.ack': receipts.ack,
  'channels.heartbeat': channels.heartbeat,
  'channels.replay': channels.replay,
  'channels.collect': receipts.collect,
  'group.create': groups.groupCreate,
  'group.invite': groups.groupInvite,
  'group.join': groups.groupJoin,
  'group.leave': groups.groupLeave,
  'group.remove': groups.groupRemove,
  'group.list_members': groups.groupListMembers,
  'group.list': groups.groupList,
  'search.messages': search.searchMessages,
  'messages.get': threads.messagesGet,
  'threads.get': threads.threadsGet,
  'threads.list': threads.threadsList,
  'threads.mark': threads.threadsMark,
  'channels.describe': threads.channelsDescribe,
  'channels.digest': threads.channelsDigest,
  'receipts.get': receipts.receiptsGet,
  'receipts.waits': receipts.receiptsWaits,
  'inbox.peek': inbox.inboxPeek,
  'inbox.commit': inbox.inboxCommit,
  'claims.take': claims.claimTake,
  'claims.release': claims.claimRelease,
  'claims.update': claims.claimUpdate,
  'claims.checkpoint': claims.claimCheckpoint,
  'claims.handoff': claims.claimHandoff,
  'claims.check': claims.claimCheck,
  'claims.list': claims.claimList,
  'claims.wait': claims.claimWait,
  'claims.unwait': claims.claimUnwait,
  'claims.forget': claims.claimForget,
  'plan.board': plan.planBoard,
  'plan.update': plan.planUpdate,
  'plan.progress': plan.planProgress,
  'plan.declare': plan.planDeclare,
  'plan.remove': plan.planRemove,
  'plan.notes': plan.planNotes,
  'presence.list': presence.presenceList,
  'presence.report': presence.presenceReport,
  'agents.tell': presence.agentsTell,
  'offers.make': offers.offerMake,
  'offers.withdraw': offers.offerWithdraw,
  'offers.list': offers.offerList,
  'cards.advertise': offers.cardAdvertise,
  'cards.withdraw': offers.cardWithdraw,
  'cards.manifest': offers.cardManifest,
  'cards.route': offers.cardRoute,
  'findings.record': findings.findingRecord,
  'findings.recall': findings.findingRecall,
  'findings.list': findings.findingList,
  'guard.record': guard.guardRecord,
  'docket.raise': docket.docketRaise,
  'docket.list': docket.docketList,
  'docket.get': docket.docketGet,
  'docket.take': docket.docketTake,
  'docket.close': docket.docketClose,
  'gates.ask': gates.gateAsk,
  'gates.get': gates.gateGet,
  'gates.consume': gates.gateConsume,
  'gates.withdraw': gates.gateWithdraw,
  'gates.list': gates.gateList,
  'agents.managed': turns.agentsManaged,
  'agents.define': processes.agentsDefine,
  'agents.undefine': processes.agentsUndefine,
  'agents.start': processes.agentsStart,
  'agents.stop': processes.agentsStop,
  'agents.take': processes.agentsTake,
  'agents.report': processes.agentsReport,
  'agents.instances': processes.agentsInstances,
  'agents.find': processes.agentsFind,
  'context.set': context.contextSet,
  'context.get': context.contextGet,
  'context.delete': context.contextDelete,
  'context.list': context.contextList,
  'context.snapshot': context.contextSnapshot,
  'context.diff': context.contextDiff,
  'context.watch': context.contextWatch,
  'sessions.create': sessions.sessionsCreate,
  'sessions.get': sessions.sessionsGet,
  'sessions.list': sessions.sessionsList,
  'sessions.append': sessions.sessionsAppend,
  'sessions.fork': sessions.sessionsFork,
  'sessions.rewind': sessions.sessionsRewind,
  'sessions.compact': sessions.sessionsCompact,
  'sessions.share': sessions.sessionsShare,
  'sessions.close': sessions.sessionsClose,
  'sessions.handoff': sessions.sessionsHandoff,
  'workflows.start': workflows.workflowsStart,
  'workflows.get': workflows.workflowsGet,
  'workflows.wait': workflows.workflowsWait,
  'workflows.list': workflows.workflowsList,
  'workflows.steps': workflows.workflowsSteps,
  'workflows.signal': workflows.workflowsSignal,
  'workflows.cancel': workflows.workflowsCancel,
  'workflows.retry': workflows.workflowsRetry,
  'workflows.fork': workflows.workflowsFork,
  'workflows.answer': workflows.workflowsAnswer,
  'workflows.queue': workflows.workflowsQueue,
  'workflows.queues': workflows.workflowsQueues,
  'workflows.take': workflows.workflowsTake,
  'workflows.record': workflows.workflowsRecord,
  'workflows.renew': workflows.workflowsRenew,
  'turns.list': turns.turnsList,
  'turns.get': turns.turnsGet,
  'stream.open': inbox.streamOpen,
  'stream.close': inbox.streamClose,
  'hub.whoami': inbox.whoami,
  'hub.status': inbox.hubStatus,
  'hub.vitals': vitals.hubVitals,
  'record.head': recordHead,
  'held.list': receipts.heldList,
  'held.review': receipts.heldReview,
  'gates.decide': gates.gateDecide,
  'people.add': people.personAdd,
  'people.list': people.personList,
  'people.remove': people.personRemove,
  'people.prove': people.personProve,
  'people.passkey_begin': passkeys.passkeyBegin,
  'people.passkey_add': passkeys.passkeyAdd,
  'people.passkey_prove': passkeys.passkeyProve,
  'people.passkey_list': passkeys.passkeyList,
  'people.passkey_remove': passkeys.passkeyRemove,
  'channels.configure': channels.configure,
  'channels.retire': channels.retire,
  'agents.assign': presence.agentsAssign,
  'agents.remove': presence.agentsRemove,
  'agents.manage': turns.agentsManage,
  'agents.unmanage': turns.agentsUnmanage,
  'turns.cancel': turns.turnsCancel,
  'turns.retry': turns.turnsRetry,
  'turns.pause': turns.turnsPause,
  'turns.resume': turns.turnsResume,
  'turns.take': turns.turnsTake,
  'turns.renew': turns.turnsRenew,
  'turns.finish': turns.turnsFinish,
  'record.at': record.recordAt,
  'record.span': record.recordSpan,
  'audit.list': audit.auditList,
  'tokens.create': admin.tokenCreate,
  'tokens.list': admin.tokenList,
  'tokens.rotate': admin.tokenRotate,
  'tokens.revoke': admin.tokenRevoke,
  'web.link': web.webLink,
  'web.sessions': web.webSessions,
  'web.revoke': web.webRevoke,
  'web.phone_open': web.webPhoneOpen,
  'web.phone_close': web.webPhoneClose,
  'spaces.list': admin.spaceList,
  'spaces.create': admin.spaceCreate,
  'spaces.remove': admin.spaceRemove,
  'spaces.configure': admin.spaceConfigure,
  'cluster.status': cluster.clusterStatus,
  'cluster.invite': clusterServers.clusterInvite,
  'cluster.servers': clusterServers.clusterServers,
  'cluster.revoke': clusterServers.clusterRevoke,
  'cluster.permissions': clusterServers.clusterPermissions,
  'cluster.drain': cluster.clusterDrain,
} as const;

export type OperationId = keyof typeof OPERATIONS;

export const operationList: readonly Operation[] = Object.values(OPERATIONS);

const BY_NAME: ReadonlyMap<string, Operation> = new Map(
  operationList.flatMap((operation) => [
    [operation.id, operation],
    [operation.name, operation],
    [toolName(operation), operation],
    ...operation.aliases.map((alias) => [alias, operation] as const),
  ]),
);

/** Finds an operation by id, SOX name, tool name or alias. */
export function findOperation(name: string): Operation | undefined {
  return BY_NAME.get(name);
}
