/** A host that a test kills: supervises one program at a hub and prints what becomes of it, a line a step. */
import { connect } from '../../src/client/client.ts';
import { Supervisor } from '../../src/flow/process/supervisor.ts';

const [url = '', token = '', agent = '', ...command] = process.argv.slice(2);
const supervisor = new Supervisor({
  hub: await connect({ url, token }),
  ...{ agent, command, ready: /^ready/, graceMs: 200, leaseMs: 5_000 },
  onLine: (line) => process.stdout.write(`${line}\n`),
});
await supervisor.start();
