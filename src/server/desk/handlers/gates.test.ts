/** Gates and people at both doors. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDoor, DOORS, type Door } from '../../../../test/e2e/both-doors.ts';
import { type Json, openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';
import { canonicalJson } from '../../../wire/canonical.ts';

const SECRET = 'correct horse battery';
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

describe.each(DOORS)('gates over %s', (name) => {
  let hub: RunningHub;
  let door: Door;
  let proof: string;

  beforeAll(async () => {
    hub = await openRunningHub();
    door = createDoor(hub, name);
    await door.ask(null, 'people.add', { name: 'mia', passphrase: SECRET });
    ({ proof } = await door.ask(null, 'people.prove', { name: 'mia', passphrase: SECRET }));
  });
  afterAll(async () => {
    await door.close();
    await hub.close();
  });

  const decide = (gate_id: string, wishes: object = {}): Promise<Json> =>
    door.ask(null, 'gates.decide', { gate_id, decision: 'approve', proof, ...wishes });

  test('[GT1] [GT6] [GT7] asked, approved by a person, used once for the very payload', async () => {
    const payload = { to: 'origin', branch: 'main', force: false };
    const asked = await door.ask('ada', 'gates.ask', { action: 'push', subject: 'main', payload });
    const payload_hash = digest(canonicalJson(payload));
    expect(asked).toMatchObject({ state: 'pending', asker: 'ada', payload_hash, decided_by: null });
    const { gate_id } = asked;
    const early = await door.refusal('ada', 'gates.consume', { gate_id, payload });
    expect(early.detail.reason).toBe('gate.pending');
    const approved = await decide(gate_id, { payload_hash, reason: 'go on' });
    expect(approved).toMatchObject({ state: 'approved', decided_by: 'mia', reason: 'go on' });
    expect(approved.approvals).toMatchObject([{ by: 'mia', proof: 'passphrase' }]);
    const other = await door.refusal('ada', 'gates.consume', {
      gate_id,
      payload: { ...payload, force: true },
    });
    expect(other.detail.reason).toBe('gate.mismatch');
    const reordered = { force: false, branch: 'main', to: 'origin' };
    expect(await door.ask('ada', 'gates.consume', { gate_id, payload: reordered })).toMatchObject({
      state: 'consumed',
      decided_by: 'ada',
    });
    const again = await door.refusal('ada', 'gates.consume', { gate_id, payload_hash });
    expect(again.detail).toMatchObject({ reason: 'gate.ended', state: 'consumed', by: 'ada' });
    const told = await door.ask('ada', 'channels.recv', { channels: ['sox/to/ada'] });
    expect(told.messages.at(-1).body).toMatchObject({ event: 'gate_approved', by: 'mia' });
  });

  test('[GT6] a denial needs a reason, and whoever decides after it hears who and when', async () => {
    const wish = { action: 'delete', subject: 'the table', tier: 2, by: { count: 2 } };
    const { gate_id } = await door.ask('ada', 'gates.ask', wish);
    const input = { gate_id, decision: 'deny', proof };
    const mute = await door.refusal(null, 'gates.decide', input);
    expect(mute.detail.reason).toBe('gate.reason-needed');
    await decide(gate_id, { decision: 'deny', reason: 'it is not backed up' });
    const late = await door.refusal(null, 'gates.decide', { ...input, reason: 'x' });
    expect(late.detail).toMatchObject({ reason: 'gate.ended', state: 'denied', by: 'mia' });
    expect(late.detail.at).toBeCloseTo(Date.now() / 1000, -2);
    expect(late.message).toContain('denied by mia');
  });

  test('[GT11] gates.get waits for the decision, and an expiry is told apart from a denial', async () => {
    const asked = await door.ask('bob', 'gates.ask', { action: 'read', subject: 'mail' });
    const waiting = door.ask('bob', 'gates.get', { gate_id: asked.gate_id, wait_ms: 60_000 });
    await decide(asked.gate_id, { decision: 'deny', reason: 'private' });
    expect(await waiting).toMatchObject({ state: 'denied', decided_by: 'mia', reason: 'private' });
    const brief = { action: 'read', subject: 'post', deadline: 1, wait_ms: 60_000 };
    expect(await door.ask('bob', 'gates.ask', brief)).toMatchObject({
      state: 'expired',
      decided_by: null,
    });
    const never = { action: 'read', subject: 'sms', deadline: 'never' };
    expect(await door.ask('bob', 'gates.ask', never)).toMatchObject({ deadline_at: null });
  });

  test('[GT8] an unknown gate and one of another are not there; people see all of them', async () => {
    const { gate_id } = await door.ask('cat', 'gates.ask', { action: 'see', subject: 'all' });
    for (const id of [gate_id, 'g999', 'x']) {
      const gone = await door.refusal('dan', 'gates.get', { gate_id: id });
      expect(gone.detail.reason).toBe('gate.not-found');
    }
    expect((await door.ask('dan', 'gates.list', { state: 'all' })).gates).toEqual([]);
    const { gates } = await door.ask(null, 'gates.list');
    expect(gates.map((gate: Json) => gate.gate_id)).toContain(gate_id);
    expect((await door.ask(null, 'gates.list', { mine: true })).gates).toEqual([]);
    const page = await door.ask(null, 'gates.list', { state: 'all', limit: 1 });
    expect(page.next).toBe('g1');
    const foreign = await hub.post('gates_get', { gate_id }, hub.as('cat', 'elsewhere'));
    expect(foreign.status).toBe(404);
  });

  test('[GT5] the same wish is one gate, a changed one takes its place, and it can be taken back', async () => {
    const wish = { action: 'write', subject: 'a file' };
    const first = await door.ask('eva', 'gates.ask', wish);
    expect((await door.ask('eva', 'gates.ask', wish)).gate_id).toBe(first.gate_id);
    const second = await door.ask('eva', 'gates.ask', { ...wish, payload: { text: 'new' } });
    expect(second.gate_id).not.toBe(first.gate_id);
    const before = await door.ask('eva', 'gates.get', { gate_id: first.gate_id });
    expect(before).toMatchObject({
      state: 'superseded',
      reason: `asked anew as ${second.gate_id}`,
    });
    const back = { gate_id: second.gate_id, reason: 'no need' };
    expect(await door.ask('eva', 'gates.withdraw', back)).toMatchObject({ state: 'withdrawn' });
    const keyed = { ...wish, idempotency_key: 'k' };
    const third = await door.ask('eva', 'gates.ask', keyed);
    expect((await door.ask('eva', 'gates.ask', keyed)).gate_id).toBe(third.gate_id);
  });

  test('[GT3] a proof is the caller’s own, and wrong passphrases are slowed and on the record', async () => {
    const { gate_id } = await door.ask('fay', 'gates.ask', { action: 'call', subject: 'home' });
    const input = { gate_id, decision: 'approve' };
    for (const shown of [undefined, 'syp_nothing']) {
      const bare = await door.refusal(null, 'gates.decide', { ...input, proof: shown }, 'recorded');
      expect(bare.detail.reason).toBe('gate.unproved');
    }
    const headers = { ...hub.as('zed'), 'x-synod-person': '1' };
    const borrowed = await hub.post('gates_decide', { ...input, proof }, headers);
    expect([borrowed.status, borrowed.body.detail.reason]).toEqual([403, 'gate.unproved']);
    const wrong = { name: 'mia', passphrase: 'wrong' };
    const refused = await door.refusal(null, 'people.prove', wrong, 'recorded');
    expect(refused.detail).toMatchObject({ reason: 'proof.wrong', wrong: 1 });
    const soon = await door.refusal(
      null,
      'people.prove',
      { name: 'mia', passphrase: SECRET },
      'recorded',
    );
    expect(soon.detail.reason).toBe('rate.limited');
    expect(soon.retry_after).toBeGreaterThan(Date.now() / 1000);
    // The one that was made before still holds.
    expect(await decide(gate_id)).toMatchObject({ state: 'approved' });
  });

  test('[GT4] a person vouches for the next one, and for less than a proof', async () => {
    const tom = { name: 'tom', passphrase: 'another long one' };
    const alone = await door.refusal(null, 'people.add', tom, 'recorded');
    expect(alone.detail.reason).toBe('gate.unproved');
    const short = await door.refusal(
      null,
      'people.add',
      { ...tom, passphrase: 'short', proof },
      'recorded',
    );
    expect(short.detail.violations[0].field).toBe('passphrase');
    expect(await door.ask(null, 'people.add', { ...tom, proof })).toMatchObject({
      vouched_by: 'mia',
    });
    const twice = await door.refusal(null, 'people.add', { ...tom, proof });
    expect(twice.detail.reason).toBe('person.exists');
    expect((await door.ask(null, 'people.list')).people).toHaveLength(2);
    expect(JSON.stringify(await door.ask(null, 'people.list'))).not.toContain('scrypt');
    const less = await door.refusal(null, 'spaces.configure', { gates_proof: 'none' }, 'recorded');
    expect(less.detail.reason).toBe('gate.unproved');
    await door.ask(null, 'people.remove', { name: 'tom', proof });
    const gone = await door.refusal(null, 'people.remove', { name: 'tom', proof });
    expect(gone.detail.reason).toBe('person.not-found');
  });
});
