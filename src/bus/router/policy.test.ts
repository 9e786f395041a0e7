/** Who may ask what of whom. */
import { expect, test } from 'vitest';
import {
  answered,
  hear,
  openSmallBus,
  refused,
  say,
  serve,
} from '../../../test/simulation/bus/small-bus.ts';

const LEAD = { subjectId: 'ada', role: 'lead', assertedBy: 'bus' } as const;
const OTHER = { subjectId: 'bob', role: 'dev', assertedBy: 'bus' } as const;

test('[BU17] the first rule that matches decides; what none names is allowed', async () => {
  const { worker, connect } = await openSmallBus({
    policy: [
      { effect: 'allow', role: 'lead', method: 'admin/' },
      { effect: 'deny', method: 'admin/', reason: 'leads only' },
      { effect: 'deny', subject: 'bob', method: 'chat/' },
    ],
  });
  const [ada, bob, nobody] = [connect('ada', LEAD), connect('bob', OTHER), connect()];
  for (const client of [ada, bob, nobody]) {
    for (const method of ['admin/x', 'chat/x', 'other']) client.ask(method, method);
  }
  serve(worker('a/0'));
  const denied = (id: string) => refused(id, 'bus.policy');
  const allowed = (method: string) => answered(method, method);
  const told = bob.got();
  expect(told[0].error).toMatchObject({ code: 7, message: expect.stringMatching(/leads only/) });
  expect(told).toEqual([denied('admin/x'), denied('chat/x'), allowed('other')]);
  expect(ada.got()).toEqual(['admin/x', 'chat/x', 'other'].map(allowed));
  expect(nobody.got()).toEqual([denied('admin/x'), allowed('chat/x'), allowed('other')]);
});

test('[BU17] what a client says of itself is no evidence', async () => {
  const { connect } = await openSmallBus({
    policy: [
      { effect: 'allow', role: 'lead' },
      { effect: 'deny', method: '' },
    ],
  });
  const client = connect();
  client.ask(1, 'm', { _ext: { identity: LEAD } });
  expect(client.got()).toEqual([refused(1, 'bus.policy')]);
});

test('[BU17] a pool is closed also to who comes by another’s session, by agent or by method', async () => {
  const { worker, connect } = await openSmallBus({
    pools: [
      { id: 'open', methods: ['o/'], agents: ['o'] },
      { id: 'closed', methods: ['c/'] },
    ],
    policy: [
      { effect: 'allow', role: 'lead' },
      { effect: 'deny', pool: 'closed' },
    ],
  });
  const [ada, bob] = [connect('ada', LEAD), connect('bob', OTHER)];
  ada.ask(1, 'c/x', { sessionId: 's' });
  expect(serve(worker('closed/0'))).toHaveLength(1);
  bob.ask(1, 'c/x');
  bob.ask(2, 'x', { pool: 'closed' });
  bob.ask(3, 'o/x', { sessionId: 's' });
  bob.ask(4, 'x', { sessionId: 's', agentId: 'o' });
  bob.send({ method: 'o/note', sessionId: 's' });
  expect(hear(worker('closed/0'))).toEqual([]);
  const told = bob.got();
  expect(told.slice(0, 4)).toEqual([1, 2, 3, 4].map((id) => refused(id, 'bus.policy')));
  expect(told.slice(4)).toMatchObject([
    { method: 'stdio_bus/dropped', params: { code: 'bus.policy' } },
  ]);
  bob.ask(5, 'o/x');
  expect(hear(worker('open/0'))).toHaveLength(1);
});

test('[BU17] a rule that denies one pool leaves the others to requests that name none', async () => {
  const { worker, connect } = await openSmallBus({
    pools: [{ id: 'closed' }, { id: 'open', agents: ['x'] }, { id: 'too', agents: ['x'] }],
    policy: [
      { effect: 'allow', role: 'lead' },
      { effect: 'deny', pool: 'closed', reason: 'leads only' },
      { effect: 'deny', pool: 'too' },
    ],
  });
  const bob = connect('bob', OTHER);
  for (const id of [1, 2, 3]) bob.ask(id, 'm');
  bob.ask(4, 'm', { agentId: 'x' });
  bob.ask(5, 'm', { sessionId: 's' });
  expect(serve(worker('open/0'))).toHaveLength(5);
  expect([...hear(worker('closed/0')), ...hear(worker('too/0'))]).toEqual([]);
  bob.got();
  bob.ask(6, 'm', { pool: 'closed' });
  expect(bob.got()).toEqual([refused(6, 'bus.policy')]);
});

test('[BU17] a session goes on where it lives or not at all: a closed pool is not evaded by moving', async () => {
  const { worker, connect, reload } = await openSmallBus({ pools: [{ id: 'a' }, { id: 'b' }] });
  const client = connect();
  client.ask(1, 'm', { sessionId: 's', pool: 'a' });
  serve(worker('a/0'));
  client.got();
  await reload({ pools: [{ id: 'a' }, { id: 'b' }], policy: [{ effect: 'deny', pool: 'a' }] });
  client.ask(2, 'm', { sessionId: 's' });
  expect(client.got()).toEqual([refused(2, 'bus.policy')]);
  expect(hear(worker('b/0'))).toEqual([]);
  client.ask(3, 'm', { sessionId: 's', pool: 'b' });
  expect(hear(worker('b/0'))).toHaveLength(1);
});

test('[BU17] a refused message leaves no trace: its sender hears nothing of the session', async () => {
  const { worker, connect } = await openSmallBus({
    policy: [{ effect: 'deny', subject: 'bob' }],
  });
  const [bob, ada] = [connect('bob', OTHER), connect('ada', LEAD)];
  bob.send({ method: 'n', sessionId: 's' });
  bob.ask(1, 'm', { sessionId: 's' });
  expect(bob.got()).toHaveLength(2);
  ada.ask(1, 'm', { sessionId: 's' });
  hear(worker('a/0'));
  say(worker('a/0'), { method: 'update', sessionId: 's' });
  say(worker('a/0'), { id: 'q', method: 'session/request_permission', sessionId: 's' });
  expect(bob.got()).toEqual([]);
  expect(ada.got()).toHaveLength(2);
});

test('[BU17] a session is its maker’s: nobody else uses, hears or closes it', async () => {
  const { worker, connect } = await openSmallBus();
  const [ada, bob, nobody] = [connect('ada', LEAD), connect('bob', OTHER), connect()];
  ada.ask(1, 'm', { sessionId: 's' });
  hear(worker('a/0'));
  for (const other of [bob, nobody]) {
    other.ask(1, 'm', { sessionId: 's' });
    other.ask(2, 'stdio_bus/attach', { params: { sessionId: 's' } });
    other.ask(3, 'stdio_bus/close', { params: { sessionId: 's' } });
    expect(other.got()).toEqual([1, 2, 3].map((id) => refused(id, 'bus.policy')));
  }
  say(worker('a/0'), { method: 'update', sessionId: 's' });
  expect([...bob.got(), ...nobody.got()]).toEqual([]);
  const again = connect('ada', LEAD);
  again.ask(1, 'stdio_bus/attach', { params: { sessionId: 's' } });
  expect(again.got()).toMatchObject([{ id: 1, result: { sessionId: 's' } }]);
});

test('[BU17] the methods of the bus are asked of the policy too, but for the handshake', async () => {
  const { connect } = await openSmallBus({ policy: [{ effect: 'deny', role: 'dev' }] });
  const bob = connect('bob', OTHER);
  for (const [id, name] of ['stats', 'attach', 'close'].entries()) bob.ask(id, `stdio_bus/${name}`);
  expect(bob.got()).toEqual([0, 1, 2].map((id) => refused(id, 'bus.policy')));
  bob.ask(3, 'stdio_bus/hello');
  expect(bob.got()).toMatchObject([{ id: 3, result: {} }]);
});
