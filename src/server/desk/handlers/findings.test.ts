/** Findings at both doors: the gate, the cursor, and what memories outside are shown. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDoor, DOORS, type Door } from '../../../../test/e2e/both-doors.ts';
import { type Json, openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';

const SOUND = {
  statement: 'the parser is in src/lex',
  subkind: 'codebase-fact',
  evidence_kind: 'measured',
  claim_status: 'bounded-support',
  provenance: { project: 'synod', session: 's1', actor: 'somebody else' },
  validity: { valid_from: 1 },
};

describe.each(DOORS)('findings over %s', (name) => {
  let hub: RunningHub;
  let door: Door;
  beforeAll(async () => {
    hub = await openRunningHub();
    door = createDoor(hub, name);
  });
  afterAll(async () => {
    await door.close();
    await hub.close();
  });

  test('[FI1] [FI2] the gate accepts, lowers or rejects, with reasons', async () => {
    expect(await door.ask('ada', 'findings.record', SOUND)).toEqual({
      verdict: 'accept',
      reasons: [],
      claim_status: 'bounded-support',
      freshness: 'untraceable',
    });
    const bold = {
      ...SOUND,
      evidence_kind: 'producer-asserted',
      claim_status: 'reference-validated',
    };
    const lowered = await door.ask('ada', 'findings.record', bold);
    expect(lowered).toMatchObject({ verdict: 'floor', claim_status: 'bounded-support' });
    expect(lowered.reasons).not.toEqual([]);
    const { provenance: _, ...rootless } = SOUND;
    const { detail, message } = await door.refusal('ada', 'findings.record', rootless);
    expect(detail.reason).toBe('finding.rejected');
    expect(message).toContain('provenance is missing');
    const nothing = await door.refusal('ada', 'findings.record', { ...SOUND, statement: ' ' });
    expect(nothing.detail.reason).toBe('finding.rejected');
    const huge = await door.refusal('ada', 'findings.record', {
      ...SOUND,
      statement: 'x'.repeat(9_000),
    });
    expect(huge.detail.reason).toBe('input.invalid');
  });

  test('[FI4] [FI5] memory events are read after a cursor, by kind, oldest first, without loss', async () => {
    const { next: start } = await door.ask('ada', 'findings.list');
    await door.ask('ada', 'findings.record', SOUND);
    expect(await door.ask('ada', 'findings.recall', { query_text: 'q', was_used: true })).toEqual({
      logged: true,
    });
    await hub.ask('ada', 'claims.take', { task_id: 'm' });
    await hub.ask('ada', 'claims.checkpoint', { task_id: 'm', checkpoint: 'here' });
    await hub.ask('bob', 'send', { channel: 'noise', body: {} });
    await hub.ask('ada', 'claims.handoff', { task_id: 'm', to: 'bob' });
    await hub.ask('bob', 'claims.take', { task_id: 'm' });
    const all = await door.ask('reader', 'findings.list', { since: start });
    expect(all.events.map((one: Json) => one.kind)).toEqual([
      'finding',
      'recall',
      'checkpoint',
      'handoff',
    ]);
    expect(all.has_more).toBe(false);
    // Who authenticated is the actor, whatever the caller says.
    expect(all.events[0].payload).toMatchObject({
      by: 'ada',
      finding: { provenance: { actor: 'ada' }, evidence_kind: expect.any(String) },
    });
    // In the words of the wire, throughout.
    expect(JSON.stringify(all.events)).not.toMatch(/"[a-z]+[A-Z]\w*":/);
    expect(all.events[2].payload).toMatchObject({ task_id: 'm', checkpoint: 'here' });
    const kinds: string[] = [];
    let since = start;
    let hasMore = true;
    while (hasMore) {
      const page = await door.ask('reader', 'findings.list', { since, limit: 1 });
      expect(page.events.length).toBeLessThanOrEqual(1);
      kinds.push(...page.events.map((one: Json) => one.kind));
      since = page.next;
      hasMore = page.has_more;
    }
    expect(kinds).toEqual(['finding', 'recall', 'checkpoint', 'handoff']);
    const some = await door.ask('reader', 'findings.list', { since: start, kinds: ['checkpoint'] });
    expect(some.events).toHaveLength(1);
    const ahead = await door.ask('reader', 'findings.list', { since: since + 1_000 });
    expect(ahead).toMatchObject({ events: [], has_more: false });
    for (const bad of [{ since: -1 }, { since: 1.5 }, { kinds: [] }, { kinds: ['gossip'] }]) {
      const { detail } = await door.refusal('reader', 'findings.list', bad);
      expect(detail.reason).toBe('input.invalid');
    }
  });

  test('[FI7] memory events older than the space keeps them are not shown', async () => {
    const { next: since } = await door.ask('ada', 'findings.list', { limit: 500 });
    await door.ask('ada', 'findings.record', SOUND);
    const shown = async (memory_retention_ms: number | null) => {
      await hub.admin('spaces_configure', { memory_retention_ms });
      return (await door.ask('ada', 'findings.list', { since })).events.length;
    };
    expect(await shown(86_400_000)).toBe(1);
    expect(await shown(1)).toBe(0);
    expect(await shown(null)).toBe(1);
  });
});
