/** Passkeys at both doors, with a device in software that can be told to get it wrong. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDoor, DOORS, type Door } from '../../../../test/e2e/both-doors.ts';
import { type Json, openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';
import { createSoftPasskey, type SoftPasskey } from '../../../../test/e2e/soft-passkey.ts';

const SECRET = 'correct horse battery';

describe.each(DOORS)('passkeys over %s', (name) => {
  let hub: RunningHub;
  let door: Door;
  let key: SoftPasskey;
  let proof: string;
  let tomsProof: string;

  const begin = (purpose: 'add' | 'prove', more: object = {}): Promise<Json> =>
    door.ask(null, 'people.passkey_begin', { purpose, ...more });
  const challenge = async (person = 'mia'): Promise<string> =>
    (await begin('prove', { name: person })).challenge;
  beforeAll(async () => {
    hub = await openRunningHub();
    door = createDoor(hub, name);
    key = createSoftPasskey(`http://localhost:${hub.port}`);
    await door.ask(null, 'people.add', { name: 'mia', passphrase: SECRET });
    ({ proof } = await door.ask(null, 'people.prove', { name: 'mia', passphrase: SECRET }));
    await door.ask(null, 'people.add', { name: 'tom', passphrase: SECRET, proof });
    const tom = await door.ask(null, 'people.prove', { name: 'tom', passphrase: SECRET });
    tomsProof = tom.proof;
  });
  afterAll(async () => {
    await door.close();
    await hub.close();
  });

  async function asPerson(person: string): Promise<(id: string, input?: Json) => Promise<Json>> {
    const { token } = await hub.admin('tokens_create', { agent_id: person, kind: 'human' });
    return async (id, input = {}) =>
      (await hub.post(id, input, { authorization: `Bearer ${token}` })).body;
  }

  test('[PK1] [PK2] added after the passphrase, it proves, and a gate says how', async () => {
    const begun = await begin('add', { proof });
    expect(begun).toMatchObject({ rp_id: 'localhost', name: 'mia', passkey_ids: [] });
    const offer = { ...key.offer(begun.challenge), label: 'this laptop', proof };
    const added = { passkey_id: key.id, name: 'mia' };
    expect(await door.ask(null, 'people.passkey_add', offer)).toEqual(added);
    const { passkeys } = await door.ask(null, 'people.passkey_list');
    expect(passkeys).toMatchObject([{ ...added, label: 'this laptop' }]);
    const claim = key.claim(await challenge());
    const proved = await door.ask(null, 'people.passkey_prove', claim);
    const { gate_id } = await door.ask('ada', 'gates.ask', { action: 'push', subject: 'main' });
    const decided = await door.ask(null, 'gates.decide', {
      ...{ gate_id, decision: 'approve', proof: proved.proof },
    });
    expect(decided.approvals).toMatchObject([{ by: 'mia', proof: 'passkey' }]);
    // What was answered is worth nothing a second time.
    const again = await door.refusal(null, 'people.passkey_prove', claim);
    expect(again.detail.reason).toBe('input.invalid');
  });

  test('[PK1] a passkey adds no other, and without a proof none is added', async () => {
    const claim = key.claim(await challenge());
    const { proof: weak } = await door.ask(null, 'people.passkey_prove', claim);
    const other = createSoftPasskey(`http://localhost:${hub.port}`);
    const begun = await begin('add', { proof: weak });
    const offer = { ...other.offer(begun.challenge), proof: weak };
    const refused = await door.refusal(null, 'people.passkey_add', offer, 'recorded');
    expect(refused.detail.reason).toBe('gate.unproved');
    const none = await door.refusal(null, 'people.passkey_begin', { purpose: 'add' }, 'recorded');
    expect(none.detail.reason).toBe('gate.unproved');
  });

  test('[PK2] one that is made elsewhere, or by nobody verified, is not added', async () => {
    const other = createSoftPasskey(`http://localhost:${hub.port}`);
    for (const wrongs of [
      { origin: 'http://localhost:1' },
      { origin: 'https://evil.example' },
      { crossOrigin: true },
      { rpId: 'evil.example' },
      { flags: 0x41 },
      { flags: 0x05 },
      { type: 'webauthn.get' },
    ]) {
      const begun = await begin('add', { proof });
      const offer = { ...other.offer(begun.challenge, wrongs), proof };
      const { detail } = await door.refusal(null, 'people.passkey_add', offer);
      expect([wrongs, detail.reason]).toEqual([wrongs, 'input.invalid']);
    }
    const offer = { ...other.offer('guessed'), proof };
    expect((await door.refusal(null, 'people.passkey_add', offer)).message).toContain('challenge');
  });

  test('[PK2] a challenge is one caller’s, for one person and one purpose', async () => {
    const mia = await asPerson('mia');
    const stolen = await mia('people.passkey_prove', key.claim(await challenge()));
    expect(stolen.detail.reason).toBe('input.invalid');
    const forAdding = key.claim((await begin('add', { proof })).challenge);
    const mixed = await door.refusal(null, 'people.passkey_prove', forAdding);
    expect(mixed.detail.reason).toBe('input.invalid');
    const nobody = await door.refusal(null, 'people.passkey_begin', {
      ...{ purpose: 'prove', name: 'tom' },
    });
    expect(nobody.detail.reason).toBe('passkey.not-found');
  });

  test('[PK1] another person’s key proves nothing, and is not theirs to remove', async () => {
    const his = createSoftPasskey(`http://localhost:${hub.port}`);
    const begun = await begin('add', { proof: tomsProof });
    const offer = { ...his.offer(begun.challenge), proof: tomsProof };
    await door.ask(null, 'people.passkey_add', offer);
    const [mia, tom] = [await asPerson('mia'), await asPerson('tom')];
    const asked = await mia('people.passkey_begin', { purpose: 'prove' });
    const wrong = await mia('people.passkey_prove', his.claim(asked.challenge));
    expect(wrong.detail.reason).toBe('proof.wrong');
    const of = await tom('people.passkey_begin', { purpose: 'prove', name: 'mia' });
    const hers = await tom('people.passkey_prove', key.claim(of.challenge));
    expect(hers.detail.reason).toBe('passkey.not-found');
    expect((await tom('people.passkey_list')).passkeys).toMatchObject([{ name: 'tom' }]);
    const theirs = await tom('people.passkey_remove', { passkey_id: key.id });
    expect(theirs.detail.reason).toBe('gate.unproved');
  });

  test('[PK3] a count that does not grow is a copy, and is said so', async () => {
    const claim = key.claim(await challenge(), { signCount: 1 });
    const copy = await door.refusal(null, 'people.passkey_prove', claim, 'recorded');
    expect([copy.detail.reason, copy.message]).toEqual([
      'proof.wrong',
      expect.stringContaining('copy'),
    ]);
  });

  test('[PK1] one that is removed proves nothing', async () => {
    const removed = await door.ask(null, 'people.passkey_remove', { passkey_id: key.id, proof });
    expect(removed).toEqual({ passkey_id: key.id, name: 'mia' });
    const { detail } = await door.refusal(null, 'people.passkey_begin', {
      ...{ purpose: 'prove', name: 'mia' },
    });
    expect(detail.reason).toBe('passkey.not-found');
  });
});
