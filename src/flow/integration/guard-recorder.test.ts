/** What guards and integrations decide, brought to a real hub; and a hub that is not there. */
import { expect, test } from 'vitest';
import { openRunningHub } from '../../../test/e2e/running-hub.ts';
import { connect } from '../../client/client.ts';
import { createGuard } from '../../guard/guard.ts';
import type { HubCalls } from '../process/supervisor-options.ts';
import { openGuardRecorder } from './guard-recorder.ts';
import { createIntegrations } from './integrations.ts';

test('[PO13] [IG2] decisions and calls are on the record of the hub', async () => {
  const hub = await openRunningHub();
  const { token } = await hub.admin('tokens_create', { agent_id: 'ada' });
  const client = await connect({ url: hub.url, token });
  const recorder = openGuardRecorder(client);
  const { record } = recorder;
  const guard = createGuard({ read: ['/srv'] }, { name: 'builder', record });
  const integrations = createIntegrations({ guardOf: () => guard, record });
  integrations.register({
    ...{ name: 'reader', version: '1', input: true, output: true },
    capabilities: { read: ['/etc'] },
    run: () => 1,
  });
  for (let i = 0; i < 3; i++) await guard.check({ kind: 'read', path: '/srv/a' });
  await guard.check({ kind: 'write', path: '/srv/a' });
  await integrations.invoke('reader', {}, { as: 'bob' }).catch(() => {});
  await recorder.close();
  await client.close();
  const { deeds } = await hub.admin('audit', { action: 'guard.recorded' });
  expect(deeds).toMatchObject([
    {
      ...{ actor: 'ada', subject: 'builder', outcome: 'guard.no-rule' },
      // A write, what the integration needs, and its call.
      detail: { allowed: 3, refused: 3 },
    },
  ]);
  await hub.close();
});

test('[PO13] what a hub does not take is counted, and told with what it takes', async () => {
  const sent: { readonly decisions: readonly { times: number }[]; readonly missed: number }[] = [];
  let isUp = false;
  const call: HubCalls['call'] = async (_id, ...[input]) => {
    if (!isUp) throw new Error('nobody is there');
    sent.push(input as never);
    return {} as never;
  };
  const recorder = openGuardRecorder({ call });
  const guard = createGuard({}, { record: recorder.record });
  for (let i = 0; i < 1_205; i++) await guard.check({ kind: 'read', path: `/x/${i}` });
  await recorder.flush();
  isUp = true;
  await guard.check({ kind: 'read', path: '/y' });
  await recorder.close();
  expect(sent).toMatchObject([{ missed: 1_205, decisions: [{ times: 1 }] }]);
});
