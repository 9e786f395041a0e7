/**
 * A refusal of the hub as a person at a terminal reads it: operations by the commands that ask for them, and
 * their input as it is typed [CL21]. The hub names operations by their ids, because it cannot know who asks;
 * an operation without a command of its own is asked for with `synod call`.
 */
import { readJson } from '../core/law/json.ts';

/** With what stands for `task_id` and its like after them. */
export const COMMANDS: Readonly<Record<string, string>> = {
  'channels.ack': 'synod ack',
  'channels.describe': 'synod channels describe',
  'channels.digest': 'synod channels digest',
  'channels.list_channels': 'synod channels',
  'channels.recv': 'synod recv',
  'channels.replay': 'synod replay',
  'channels.subscribe': 'synod subscribe',
  'search.messages': 'synod search',
  'audit.list': 'synod log audit',
  'channels.unsubscribe': 'synod unsubscribe',
  'agents.manage': 'synod agents manage',
  'agents.managed': 'synod agents list --managed',
  'agents.unmanage': 'synod agents unmanage',
  'claims.handoff': 'synod handoff',
  'claims.list': 'synod claims',
  'claims.release': 'synod release',
  'claims.take': 'synod claim',
  'claims.unwait': 'synod claims unwait',
  'claims.wait': 'synod claims wait',
  'cluster.drain': 'synod drain',
  'cluster.status': 'synod cluster status',
  'cluster.invite': 'synod cluster invite',
  'cluster.servers': 'synod cluster servers',
  'cluster.revoke': 'synod cluster revoke',
  'cluster.permissions': 'synod cluster permissions',
  'context.delete': 'synod context delete',
  'context.diff': 'synod context diff',
  'context.get': 'synod context get',
  'context.list': 'synod context list',
  'context.set': 'synod context set',
  'docket.list': 'synod docket',
  'gates.ask': 'synod gates ask',
  'gates.consume': 'synod gates consume',
  'gates.decide': 'synod gates approve',
  'gates.get': 'synod gates wait',
  'gates.list': 'synod gates list',
  'gates.withdraw': 'synod gates withdraw',
  'people.add': 'synod person add',
  'people.list': 'synod person list',
  'people.remove': 'synod person remove',
  'plan.board': 'synod board',
  'plan.declare': 'synod task declare',
  'presence.list': 'synod who',
  'sessions.append': 'synod sessions append',
  'sessions.close': 'synod sessions close',
  'sessions.compact': 'synod sessions compact',
  'sessions.create': 'synod sessions create',
  'sessions.fork': 'synod sessions fork',
  'sessions.get': 'synod sessions show',
  'sessions.handoff': 'synod sessions handoff',
  'sessions.list': 'synod sessions',
  'sessions.share': 'synod sessions share',
  'threads.get': 'synod thread',
  'threads.list': 'synod thread list',
  'tokens.list': 'synod token list',
  'turns.cancel': 'synod turns cancel',
  'turns.get': 'synod turns show',
  'turns.list': 'synod turns list',
  'turns.pause': 'synod turns pause',
  'turns.resume': 'synod turns resume',
  'turns.retry': 'synod turns retry',
  'tokens.revoke': 'synod token revoke',
  'workflows.cancel': 'synod workflow cancel',
  'workflows.fork': 'synod workflow fork',
  'workflows.list': 'synod workflow list',
  'workflows.retry': 'synod workflow retry',
  'workflows.start': 'synod workflow start',
};

const OPERATION =
  /(?<![\w/.-])(agents|audit|cards|channels|claims|cluster|context|docket|findings|gates|group|guard|held|hub|inbox|messages|offers|people|plan|presence|receipts|record|search|sessions|spaces|threads|tokens|turns|web|workflows)\.(?!json\b)[a-z_]+(?![\w-])( \{[^{}]*\})?/g;

export function inCommandWords(message: string): string {
  return message
    .replace(OPERATION, (words) => {
      const [id = '', ...rest] = words.split(' ');
      const command = COMMANDS[id] ?? `synod call ${id}`;
      const given = rest.length === 0 ? [] : valuesOf(rest.join(' '));
      return `"${[command, ...given].join(' ')}"`;
    })
    .replace(/\bwait_ms\b/g, '--wait');
}

/** What an input gives, in the order it is typed. */
function valuesOf(json: string): string[] {
  try {
    return Object.values(readJson(json) as object).map((one) =>
      typeof one === 'string' && /^[\w./:@-]+$/.test(one) ? one : `'${String(one)}'`,
    );
  } catch {
    // Cut short, or no input at all.
    return [json];
  }
}
