/**
 * What a hub tells of its space, as text for people: one line a thing, in a fixed order. It asks what
 * the doors ask and freezes nothing, so that a snapshot is not its own witness.
 */
import type { WorldView } from '../../src/core/law/state.ts';
import { queueDepth } from '../../src/core/talk/channel.ts';
import { receiptsOf } from '../../src/core/talk/receipt.ts';
import { owedCount } from '../../src/core/talk/subscription.ts';
import { manifestPage } from '../../src/core/work/card.ts';
import { viewClaim } from '../../src/core/work/claim/claim-state.ts';
import { offersPage } from '../../src/core/work/offer.ts';
import { boardPage, progressPage } from '../../src/core/work/plan/board.ts';
import type { Message } from '../../src/hub/message-store.ts';
import { fieldsOf } from '../traces/play.ts';
import type { Stage } from './stage.ts';

const ALL = { limit: 500 };

export async function tellAll({ hub, settled }: Stage): Promise<string> {
  const entries = await hub.entries(0, Number.MAX_SAFE_INTEGER);
  const places = entries.flatMap((entry, i) =>
    entry.startsWith('{"type":"message.sent"') ? [i] : [],
  );
  const messages = (await hub.messages(places)).filter((message) => message !== null);
  const told = await settled(hub.ask((world) => tellWorld(world, messages)));
  if ('refused' in told) throw new Error(told.message);
  return [`log: ${entries.length} entries, head ${hub.head}`, ...told, ''].join('\n');
}

function tellWorld(world: WorldView, messages: readonly Message[]): string[] {
  const channels = [...world.channels.values()].sort(byName);
  const agents = [...world.agents.values()].sort(byName);
  const claims = [...world.claims.claims.values()];
  const board = boardPage(
    world.plan,
    ALL,
    (id) => claims.find((claim) => claim.id === id)?.owner ?? null,
  );
  return [
    line('space', world.settings),
    ...agents.flatMap((agent) => [
      line(`agent ${agent.name}`, { presence: agent.presence.state, roles: agent.roles }),
      ...[...agent.patterns].sort().map((pattern) => `  follows ${pattern}`),
      ...[...agent.ready]
        .map((member) => `  is owed ${owedCount(member)} on ${member.channel.name}`)
        .sort(),
    ]),
    ...channels.flatMap((channel) => [
      line(`channel ${channel.name}`, {
        head: channel.positions.head,
        depth: queueDepth(channel),
        ...channel.settings,
      }),
      ...[...channel.members.values()]
        .map(({ agent, from, cursor }) => line(`  read by ${agent.name}`, { from, cursor }))
        .sort(),
    ]),
    ...messages.flatMap((message) => [
      line(`message m${message.position} on ${message.channel}`, {
        by: message.by,
        seq: message.seq,
        at: message.at,
        replyTo: message.replyTo,
        body: JSON.stringify(message.body),
      }),
      ...receiptsOf(world, { ...message, expiresAt: message.expiresAt ?? null }, world.at)
        .map(({ agent, state, reason, at }) => line(`  for ${agent}: ${state}`, { reason, at }))
        .sort(),
    ]),
    ...[...world.groups.values()].flatMap(({ id, displayName, createdBy, members }) => [
      line(`group ${id}`, { displayName, createdBy }),
      ...[...members].map(([name, { status }]) => `  ${status} ${name}`),
    ]),
    // Held messages are told above, by their receipts.
    ...[...world.docket.items.values()].flatMap(({ id, subjects, ...item }) =>
      item.kind === 'held'
        ? []
        : [
            line(`docket d${id}`, item),
            ...[...subjects].map(([place, subject]) => line(`  about ${place}`, subject)),
          ],
    ),
    ...[...world.tokens.values()].map(({ id, roles, ...token }) =>
      line(`token ${id}`, { ...token, roles: roles.length === 0 ? null : roles }),
    ),
    ...claims.map((claim) => line(`claim ${claim.id}`, viewClaim(claim))),
    ...[...world.claims.waits.values()].map((wait) =>
      line(`wait ${wait.number} of ${wait.agent}`, {
        id: wait.id,
        until: wait.until,
        isReserved: wait.isReserved,
      }),
    ),
    ...board.rows.map(({ id, ...task }) => line(`task ${id}`, task)),
    line('plan', board.totals),
    ...progressPage(world.plan, ALL).rows.map((note) => line('note', note)),
    ...offersPage(world.offers, ALL).rows.map((offer) => line('offer', offer)),
    ...manifestPage(world.cards, ALL).rows.map(({ agent, name, skills }) =>
      line(`card of ${agent}`, { name, skills: skills.map(({ id }) => id) }),
    ),
    line('findings', world.findings),
    ...[...world.gates.people.values()].map((person) => line('person', person)),
    ...[...world.gates.open.values(), ...world.gates.ended.values()].map(
      ({ id, action, asker, approvals, ...gate }) =>
        line(`gate ${id} of ${asker}`, {
          action,
          approvals,
          ...('end' in gate && { end: gate.end }),
        }),
    ),
    line('due next', { at: nextDue(world) }),
  ];
}

/** Not the look for what may lapse: when that comes is promised to nobody. */
function nextDue({ deadlines: { next } }: WorldView): number | undefined {
  return next?.kind === 'sweep' ? undefined : next?.at;
}

function line(what: string, fields: object): string {
  return [what, ...fieldsOf(fields)].join(' ');
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
