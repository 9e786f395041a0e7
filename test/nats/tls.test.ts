/** NATS behind TLS: with the authority of its certificate a store opens, and every way in which the two do not agree is said. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LogError } from '../../src/log/log.ts';
import { parseNatsUrl } from '../../src/log/nats/place.ts';
import { joinCluster } from '../../src/server/run/join-cluster.ts';
import { openLog } from '../../src/server/run/open-log.ts';
import { openRunningHub, type RunningHub } from '../e2e/running-hub.ts';
import { type NatsNode, NO_NATS, openNatsNode } from './server.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const LACK = NO_NATS ?? (hasOpenssl ? null : 'no openssl to make certificates with');

describe.skipIf(LACK !== null)(`NATS behind TLS ${LACK ?? ''}`, () => {
  const dir = mkdtempSync(join(tmpdir(), 'synod-tls-'));
  const file = (name: string): string => join(dir, name);
  const openssl = (...args: string[]): void =>
    void execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' });
  const nodes: NatsNode[] = [];
  const hubs: RunningHub[] = [];
  let secure: NatsNode;
  let plain: NatsNode;
  let misnamed: NatsNode;
  let silent: Server;

  function createAuthority(name: string): void {
    const subject = [
      '-subj',
      `/CN=${name}`,
      '-days',
      '2',
      '-addext',
      'basicConstraints=critical,CA:TRUE',
    ];
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    openssl('req', '-x509', ...key, '-keyout', `${name}.key`, '-out', `${name}.crt`, ...subject);
  }
  function createCertificate(name: string, authority: string, alternative: string): void {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    writeFileSync(file(`${name}.ext`), `subjectAltName=${alternative}\n`);
    const by = ['-CA', `${authority}.crt`, '-CAkey', `${authority}.key`, '-CAcreateserial'];
    const made = ['-in', `${name}.csr`, '-out', `${name}.crt`, '-extfile', `${name}.ext`];
    openssl('x509', '-req', '-days', '2', ...by, ...made);
  }
  async function openNode(certificate: string | null): Promise<NatsNode> {
    const at = (end: string): string => file(`${certificate}.${end}`);
    const tls = `tls { cert_file: "${at('crt')}", key_file: "${at('key')}" }`;
    const node = await openNatsNode(certificate === null ? {} : { top: tls });
    nodes.push(node);
    return node;
  }
  const store = (port: number, options: string, prefix = 'synod'): string =>
    `nats://127.0.0.1:${port}/${prefix}?replicas=1&durability=relaxed${options}`;
  const refusal = async (port: number, options: string): Promise<string> => {
    try {
      await (await openLog(store(port, options))).close();
      return 'it opened';
    } catch (cause) {
      if (!(cause instanceof LogError)) throw cause;
      return `${cause.code}: ${cause.message}`;
    }
  };

  beforeAll(async () => {
    createAuthority('ours');
    createAuthority('theirs');
    createCertificate('here', 'ours', 'IP:127.0.0.1');
    createCertificate('elsewhere', 'ours', 'DNS:nats.example.org');
    writeFileSync(file('empty.crt'), 'no certificate\n');
    [secure, plain, misnamed] = [
      await openNode('here'),
      await openNode(null),
      await openNode('elsewhere'),
    ];
    silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  }, 120_000);
  afterAll(async () => {
    for (const hub of hubs) await hub.close();
    for (const node of nodes) await node.close();
    silent?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test('[NL7] with the authority of the certificate a store opens, and keeps what it is given', async () => {
    const url = store(secure.port, `&tls=on&ca=${file('ours.crt')}`);
    const log = await openLog(url);
    expect(await log.append(0, ['"one"'])).toEqual({ length: 1 });
    await log.close();
    const again = await openLog(url);
    expect(await again.at([0])).toEqual(['"one"']);
    await again.close();
  });

  test('[NL4] [NL7] a certificate that is not good and a server without TLS are each said, and nothing hangs', async () => {
    const ours = `&tls=on&ca=${file('ours.crt')}`;
    const { port } = silent.address() as AddressInfo;
    const cases: [number, string, RegExp][] = [
      [secure.port, `&tls=on&ca=${file('theirs.crt')}`, /no authority that is known.* as ca of/],
      [secure.port, '&tls=on', /no authority that is known here.* as ca of the store/],
      [secure.port, '', /no authority that is known here.* as ca of the store/],
      [misnamed.port, ours, /for another address .*name the server in the store as its/],
      [plain.port, ours, /do not agree about TLS .*mend tls and ca of the store/],
      [secure.port, `&ca=${file('missing.crt')}`, /is not there .*mend creds or ca/],
      [secure.port, `&ca=${file('empty.crt')}`, /empty.crt holds no certificate/],
      [port, ours, /no answer came in time .*mend the address/],
    ];
    for (const [at, options, sentence] of cases) {
      const told = await refusal(at, options);
      expect(told).toMatch(/^log\.unavailable: /);
      expect(told).toMatch(sentence);
    }
  });

  test('[JN7] a server founds a cluster behind TLS, and another joins it with the file of the authority', async () => {
    const options = `&tls=on&ca=${file('ours.crt')}`;
    const flags = { store: store(secure.port, options, 'team'), serverName: 'one' };
    const one = await openRunningHub({ dir: file('one'), flags });
    hubs.push(one);
    const { token } = await one.admin('cluster.invite', { name: 'two' });
    const wish = { token, dir: file('two'), name: null, store: null };
    await expect(joinCluster({ ...wish, ca: file('theirs.crt') })).rejects.toThrow(/no authority/);
    await expect(joinCluster({ ...wish, ca: null })).rejects.toThrow(/no authority/);
    const joined = await joinCluster({ ...wish, ca: file('ours.crt') });
    expect(parseNatsUrl(joined.store)?.tls).toEqual({ ca: file('ours.crt') });
    // NATS knows no users here; the key is for one that does.
    const two = await openRunningHub({
      dir: file('two'),
      flags: { store: joined.store, serverName: 'two' },
    });
    hubs.push(two);
    await two.ask('ada', 'subscribe', { pattern: 'general' });
    for (const hub of [one, two])
      await hub.ask('ada', 'send', { channel: 'general', body: { at: hub.url } });
    const { messages } = await two.ask('ada', 'replay', { channel: 'general' });
    expect(messages).toHaveLength(2);
  }, 90_000);
});
