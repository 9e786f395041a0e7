/** Commands that wait, over a restart of a real hub in one data directory. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until, within } from '../../test/e2e/deadline.ts';
import { openRunningHub, type RunningHub } from '../../test/e2e/running-hub.ts';
import { callHub } from '../client/node/call.ts';
import { resolveTarget } from '../client/node/target.ts';
import { takeClaim } from './claim-take.ts';
import type { Call } from './context.ts';
import { createPatience, waitForMail } from './outlast.ts';

let dir: string;
let hub: RunningHub;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'synod-outlast-'));
  hub = await openRunningHub({ dir });
});
afterEach(async () => {
  await hub.close();
  rmSync(dir, { recursive: true, force: true });
});

const PATIENCE_MS = 60_000;

function callAs(agent: string): Call {
  return (id, input) => callHub(resolveTarget({ dir, as: agent }, {}), id, input);
}

/** Remarks, and a way to wait for one. */
function listen(): { remark(line: string): void; said(what: RegExp): Promise<void> } {
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  return {
    remark(line) {
      lines.push(line);
      for (const look of waiting) look();
    },
    said(what) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const look = () => lines.some((line) => what.test(line)) && resolve();
      waiting.add(look);
      look();
      return within(`${what}`, promise, 20_000);
    },
  };
}

async function restart(whileAway: () => Promise<unknown>): Promise<void> {
  await hub.close();
  await whileAway();
  hub = await openRunningHub({ dir });
}

test('[CL31] a claim that is waited for is granted after the hub was restarted', async () => {
  await hub.ask('ada', 'claims.take', { task_id: 'x' });
  const { remark, said } = listen();
  const taken = takeClaim({ call: callAs('bob'), remark }, { task_id: 'x' }, PATIENCE_MS);
  await said(/^waiting; 0 before you/);
  await restart(() => said(/the hub is away/));
  await hub.ask('ada', 'claims.release', { task_id: 'x' });
  const { claim, renewed } = await within('the claim is granted', taken, 20_000);
  expect({ owner: claim.owner, renewed }).toEqual({ owner: 'bob', renewed: false });
});

test('[CL31] mail that is waited for arrives after the hub was restarted', async () => {
  await hub.ask('bob', 'subscribe', { pattern: 'news' });
  const { remark, said } = listen();
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  let calls = 0;
  const call: Call = (id, input) => {
    // The first is answered at once, so that the hub has been there.
    const isFirst = calls++ === 0;
    if (!isFirst) resolve();
    return callAs('bob')(
      id,
      isFirst ? ({ ...(input as object), wait_ms: 0 } as typeof input) : input,
    );
  };
  const drained = waitForMail({ call, remark }, {}, Date.now() + PATIENCE_MS);
  await asked;
  await restart(() => said(/the hub is away/));
  await hub.ask('ada', 'send', { channel: 'news', body: { n: 1 } });
  const { messages } = await within('mail arrives', drained, 20_000);
  expect(messages.map(({ body }) => body)).toEqual([{ n: 1 }]);
});

test('[CL31] a hub that was never there is told at once, and time that is up ends it', async () => {
  const nowhere = callAs('bob');
  await hub.close();
  const { remark } = listen();
  const long = takeClaim({ call: nowhere, remark }, { task_id: 'x' }, PATIENCE_MS);
  await expect(long).rejects.toMatchObject({ code: 'hub.unreachable' });
  const gone = waitForMail({ call: nowhere, remark }, {}, Date.now() + PATIENCE_MS);
  await expect(gone).rejects.toMatchObject({ code: 'hub.unreachable' });
  const short = createPatience(remark, Date.now() + 50);
  await short.ask(async () => 'there');
  await expect(short.ask(() => nowhere('hub.whoami', {}))).rejects.toMatchObject({
    code: 'hub.unreachable',
  });
});

test('[WT3] a call that waits leaves the queue when the hub stops', async () => {
  await hub.ask('ada', 'claims.take', { task_id: 'x' });
  const wish = { task_id: 'x', wait_ms: PATIENCE_MS };
  const waiting = hub.post('claims.take', wish, hub.as('bob')).catch(() => null);
  const ahead = async () => {
    const { wait, ahead } = await hub.ask('eve', 'claims.wait', { task_id: 'x' });
    await hub.ask('eve', 'claims.unwait', { wait });
    return ahead;
  };
  await until('bob waits', ahead, (count) => count === 1);
  await restart(() => waiting);
  expect(await ahead()).toBe(0);
});

test('[WK5] the owner frees a claim of somebody else by force, whoever the owner speaks as', async () => {
  await hub.ask('ada', 'claims.take', { task_id: 'x' });
  const call = callAs('root');
  const refused = call('claims.release', { task_id: 'x' });
  await expect(refused).rejects.toMatchObject({ code: 'claim.not-holder' });
  const freed = await call('claims.release', { task_id: 'x', force: true });
  expect(freed).toMatchObject({ released: true, was_owner: 'ada' });
});
