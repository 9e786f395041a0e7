/** Looking back, at both doors, and with plugins around what is asked. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manifestOf } from '../../../../plugins/host-kit.test.fixture.ts';
import { createDoor, DOORS, type Door } from '../../../../test/e2e/both-doors.ts';
import { openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';
import { createPluginRegistry } from '../../plugins/registry.ts';

let hub: RunningHub;
let closed: string | null = null;
let seen: string[] = [];
beforeAll(async () => {
  const plugins = createPluginRegistry();
  const watch = async (context: { operation: string }, next: () => Promise<unknown>) => {
    seen.push(context.operation);
    if (context.operation !== closed) return next();
    return { error: { error_code: 'identity_failure', message: 'closed by a plugin' } };
  };
  const spec = { applies_to: { operations: ['*'], transports: ['http'] } };
  const manifest = manifestOf('io.acme.watch', 'interceptor', spec);
  plugins.registerPlugin('io.acme.watch', () => watch, manifest);
  hub = await openRunningHub({ hooks: { plugins }, flags: { store: 'memory:' } });
  await hub.ask('ada', 'plan_declare', { task_id: 'parse', title: 'Parse it' });
  await hub.ask('ada', 'plan_update', { task_id: 'parse', status: 'done' });
});
afterAll(() => hub.close());

describe.each(DOORS)('looking back over %s', (name) => {
  let door: Door;
  beforeAll(() => {
    door = createDoor(hub, name);
  });
  afterAll(() => door.close());

  test('[PA1] [PA6] an earlier answer and the log in time have their declared shapes', async () => {
    const span = await door.ask(null, 'record.span', { buckets: 3 });
    expect(span.positions.at(-1)).toBe(span.length);
    const asked = { operation: 'claims.list', position: span.length };
    expect(await door.ask(null, 'record.at', asked)).toMatchObject({ answer: { claims: [] } });
    const statuses = [];
    for (let position = 0; position <= span.length; position++) {
      const board = { operation: 'plan.board', position };
      const { answer } = await door.ask(null, 'record.at', board);
      statuses.push(answer.tasks[0]?.status ?? 'none');
    }
    expect([...new Set(statuses)]).toEqual(['none', 'open', 'done']);
  });

  test('[PA4] a plugin around an operation stands around it in the past', async () => {
    closed = 'plan_board';
    seen = [];
    const asked = { operation: 'plan.board', position: 1 };
    const refused = await door.refusal(null, 'record.at', asked);
    expect(refused.message).toBe('closed by a plugin');
    expect(seen).toContain('plan_board');
    closed = null;
    await door.ask(null, 'record.at', asked);
  });
});
