/** What the events of gates and people do to the book. */
import { raiseItem, settleItem } from '../docket/docket.ts';
import { assert } from '../law/assert.ts';
import type { World } from '../law/state.ts';
import { agentOf } from '../talk/agent.ts';
import { onGate } from '../workflows/waits.ts';
import type {
  GateAsked,
  GateConsumed,
  GateDecided,
  GateEnded,
  GateEvent,
  PersonAdded,
  PersonEvent,
  PersonRemoved,
} from './gate-events.ts';
import { armGates, timeApproval } from './gate-hold.ts';
import { addGate, closeGate, type Gate, type GateEnd, type Verdict } from './gate-state.ts';
import { evolvePasskey } from './passkey.ts';

const KINDS: Readonly<Record<(GateEvent | PersonEvent)['type'], true>> = {
  'gate.asked': true,
  'gate.approved': true,
  'gate.denied': true,
  'gate.consumed': true,
  'gate.ended': true,
  'person.added': true,
  'person.removed': true,
  'passkey.added': true,
  'passkey.removed': true,
  'passkey.used': true,
};

export function isGateEvent(event: { readonly type: string }): event is GateEvent | PersonEvent {
  return event.type in KINDS;
}

export function evolveGates(world: World, event: GateEvent | PersonEvent): void {
  const { gates } = world;
  switch (event.type) {
    case 'gate.asked':
      agentOf(world, event.by);
      gates.counter++;
      addGate(gates, gateOf(event));
      putOnDocket(world, event);
      return armGates(world);
    case 'gate.approved':
      approve(world, event);
      return armGates(world);
    case 'gate.denied':
      return end(world, event.id, { state: 'denied', ...verdictOf(event) });
    case 'gate.consumed':
      return end(world, event.id, { state: 'consumed', ...saidBy(event), reason: null });
    case 'gate.ended': {
      const { state, reason } = event;
      return end(world, event.id, { state, ...saidBy(event), reason });
    }
    case 'person.added':
    case 'person.removed':
      return evolvePerson(world, event);
    case 'passkey.added':
    case 'passkey.removed':
    case 'passkey.used':
      return evolvePasskey(world, event);
  }
}

function end(world: World, id: string, how: GateEnd): void {
  const gate = world.gates.open.get(id);
  assert(gate !== undefined, 'only a gate that is open ends');
  closeGate(world.gates, gate, how);
  settleItem(world, how.at, 'gate', id, how.state, how.person ?? how.by);
  onGate(world, id, how.state, how.person ?? how.by, how.at);
}

/** People are shown it where everything is that waits for one of them. */
function putOnDocket(world: World, { at, by, id, action, subject, thread }: GateAsked): void {
  const text = `${action}: ${subject}`;
  raiseItem(world, at, { kind: 'gate', agent: by, reason: action, thread, text, subject: id });
}

function evolvePerson(world: World, event: PersonAdded | PersonRemoved): void {
  const { people } = world.gates;
  const { name } = event;
  if (event.type === 'person.removed') people.delete(name);
  else {
    const { verifier, at: addedAt, by: addedBy, vouchedBy } = event;
    people.set(name, { name, verifier, addedAt, addedBy, vouchedBy });
  }
}

function approve(world: World, event: GateDecided): void {
  const gate = world.gates.open.get(event.id);
  assert(gate !== undefined, 'only a gate that is open is approved');
  gate.approvals = [...gate.approvals, verdictOf(event)];
  if (gate.approvals.length < gate.deciders.count) return;
  gate.state = 'approved';
  world.gates.due.delete(gate);
  gate.dueAt = null;
  timeApproval(world, gate, event.at);
  settleItem(world, event.at, 'gate', gate.id, 'approved', event.person ?? event.by);
  onGate(world, gate.id, 'approved', event.person ?? event.by, event.at);
}

function verdictOf({ by, person, proof, at, reason }: GateDecided): Verdict {
  return { by, person, proof, at, reason };
}

function saidBy({ at, by }: GateConsumed | GateEnded) {
  return { at, by, person: null, proof: null };
}

function gateOf({ type: _, at, by, ...asked }: GateAsked): Gate {
  return {
    ...asked,
    ...{ asker: by, askedAt: at, dueAt: asked.deadlineAt, heapIndex: -1 },
    holds: asked.holds ?? null,
    isAwaited: asked.isAwaited === true,
    ...{ state: 'pending', approvals: [] },
  };
}
