/**
 * A process that works with a session and is killed in the middle. It prints what it read, does one round
 * (speaks, calls a tool that a person must approve first) and then stays until it is killed.
 *
 * Arguments: url, token, key of the session, number of the round, and the gate of the round before, if any.
 */
import { connect } from '../../src/client/client.ts';
import { openSession } from '../../src/flow/session/session.ts';

const [url = '', token = '', key = '', round = '0', gate_id = ''] = process.argv.slice(2);
const hub = await connect({ url, token, agent: 'ada' });
const session = await openSession(hub, { key });
const items = await session.items();
const { open_calls: open } = await session.view();
if (gate_id !== '') {
  // The one before died while it waited: its call is unknown, and this is the key to ask by.
  const [call] = open;
  const { state } = await hub.call('gates.get', { gate_id });
  const output = { state, key: call?.key };
  await session.append({ kind: 'tool_result', call_id: call?.call_id ?? '', output });
}
await session.append({ kind: 'user', content: `round ${round}: \u{1f600} \u0000 "quoted"` });
const call_id = `call-${round}`;
await session.append({ kind: 'tool_call', call_id, name: 'deploy', arguments: { round, n: 0.1 } });
const gate = await hub.call('gates.ask', { action: 'deploy', subject: `round ${round}` });
const after = await session.items();
const said = { read: JSON.stringify(items), left: JSON.stringify(after), gate: gate.gate_id };
process.stdout.write(`${JSON.stringify(said)}\n`);
setInterval(() => {}, 1 << 30);
