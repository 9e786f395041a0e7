/** `synod log anchor` and `log verify --anchors` as a person runs them, beside a data directory of a hub. */
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requestStamp } from '../../src/cli/time-stamp.ts';
import { headText, parseSignedHead } from '../../src/log/signed-head.ts';
import { type Home, openHome } from './cli-run.ts';
import { openRunningHub } from './running-hub.ts';

/** The machine's own; without it nobody is there to ask. */
const OPENSSL = 'openssl';
const outside = mkdtempSync(join(tmpdir(), 'synod-outside-'));
const state = { XDG_STATE_HOME: join(tmpdir(), 'synod-test-state') };
let home: Home;

async function use(times: number): Promise<void> {
  const hub = await openRunningHub({ dir: home.dir });
  for (let i = 0; i < times; i++) await hub.ask('ada', 'send', { channel: 'work', body: { i } });
  await hub.close();
}

const synod = (...args: string[]) => home.run(args, { env: state, cwd: outside });

beforeAll(async () => {
  home = openHome();
  await use(5);
});
afterAll(async () => {
  await home.close();
  rmSync(outside, { recursive: true, force: true });
});

test('[RC3] [RC6] a head is anchored by file, command and git, and a log that was cut contradicts it', async () => {
  const remote = join(outside, 'remote.git');
  execFileSync('git', ['init', '--quiet', '--bare', remote]);
  const anchored = await synod(
    ...['log', 'anchor', '--file', 'anchors.ndjson', '--command', 'cat > by-command.ndjson'],
    ...['--git', './remote.git'],
  );
  expect(anchored.stderr).toBe('');
  expect(anchored.stdout).toMatch(
    /^anchored \d+ entries .*\(file, command, git\)\nsigned by ed25519:/,
  );
  const line = readFileSync(join(outside, 'anchors.ndjson'), 'utf8');
  expect(readFileSync(join(outside, 'by-command.ndjson'), 'utf8')).toBe(line);
  const ref = ['-C', remote, 'show', 'refs/synod/anchors:anchors.ndjson'];
  expect(execFileSync('git', ref, { encoding: 'utf8' })).toBe(line);
  const { position } = parseSignedHead(line) ?? { position: 0 };

  const whole = await synod('log', 'verify', '--anchors', 'anchors.ndjson', 'by-command.ndjson');
  expect([whole.code, whole.stdout]).toEqual([0, expect.stringContaining(', 2 anchors hold')]);

  // The newest entries go, and with them the snapshots that would show it.
  const db = new DatabaseSync(join(home.dir, 'spaces', 'default.sqlite'));
  db.exec('DELETE FROM batches WHERE first > 2; DELETE FROM snapshots');
  db.close();
  // The signed heads beside the log tell, until somebody takes them away as well.
  const told = await synod('log', 'verify');
  expect([told.code, told.stdout]).toEqual([
    1,
    expect.stringMatching(/^BROKEN .*: 3 entries, the head signed at \d\d:\d\d says at least/),
  ]);
  const again = await synod('log', 'anchor', '--file', 'anchors.ndjson');
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('nothing was anchored')]);
  rmSync(join(home.dir, 'spaces', 'default.sqlite.HEADS'));
  const alone = await synod('log', 'verify');
  expect([alone.code, alone.stdout]).toEqual([0, expect.stringMatching(/^ok .*: 3 entries/)]);
  const cut = await synod('log', 'verify', '--anchors', 'anchors.ndjson');
  expect(cut.code).toBe(1);
  expect(cut.stdout).toMatch(
    new RegExp(`^BROKEN .*: 3 entries, the anchor of \\d\\d:\\d\\d says at least ${position}\\n$`),
  );
  expect(cut.stderr).toContain('log.broken');
});

test('[RC3] a way that fails is said, and what is no way is refused', async () => {
  const failing = await synod('log', 'verify', '--head', 'f'.repeat(64), '--at', '3');
  expect([failing.code, failing.stdout]).toEqual([
    1,
    expect.stringContaining('the head that was given says another head for the first 3 entries'),
  ]);
  const sound = JSON.parse((await synod('log', 'verify', '--json')).stdout).logs[0];
  const held = await synod('log', 'verify', '--head', sound.head, '--at', String(sound.length));
  expect([held.code, held.stdout]).toEqual([
    0,
    expect.stringContaining(`, the head given at ${sound.length} holds`),
  ]);
  const half = await synod('log', 'verify', '--at', '3');
  expect([half.code, half.stderr]).toEqual([2, expect.stringContaining('go together')]);
});

test('[RC3] an anchor that cannot be put is said with the way that failed, and what was done', async () => {
  const nowhere = await synod('log', 'anchor', '--file', join('absent', 'anchors.ndjson'));
  expect([nowhere.code, nowhere.stderr]).toEqual([
    74,
    expect.stringMatching(/log\.anchor-not-put[\s\S]*\(file\)[\s\S]*nothing was anchored/),
  ]);
  const half = await synod('log', 'anchor', '--file', 'half.ndjson', '--command', 'exit 3');
  expect([half.code, half.stderr]).toEqual([
    74,
    expect.stringMatching(/\(command\)[\s\S]*put already by file/),
  ]);
  const unreached = await synod(
    ...['log', 'anchor', '--file', 'unreached.ndjson', '--rfc3161', 'http://127.0.0.1:1/'],
  );
  expect([unreached.code, unreached.stderr]).toEqual([
    74,
    expect.stringMatching(/gave no time stamp[\s\S]*nothing was anchored/),
  ]);
  expect(existsSync(join(outside, 'unreached.ndjson'))).toBe(false);
  const homeless = await synod('log', 'anchor', '--git', './absent.git');
  expect([homeless.code, homeless.stderr]).toEqual([
    74,
    expect.stringMatching(/log\.anchor-not-put[\s\S]*\(git\)[\s\S]*nothing was anchored/),
  ]);
});

describe('an RFC 3161 authority that is not ours', () => {
  const dir = join(outside, 'tsa');
  const config = join(dir, 'tsa.cnf');
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const query = join(dir, 'query.tsq');
      writeFileSync(query, Buffer.concat(parts));
      const reply = join(dir, 'reply.tsr');
      openssl('ts', '-reply', '-config', config, '-queryfile', query, '-out', reply);
      response.end(readFileSync(reply));
    });
  });
  const openssl = (...args: string[]): string =>
    execFileSync(OPENSSL, args, { cwd: dir, encoding: 'utf8', stdio: 'pipe' });
  const isThere = spawnSync(OPENSSL, ['version']).status === 0;

  beforeAll(async () => {
    if (!isThere) return;
    execFileSync('mkdir', ['-p', dir]);
    writeFileSync(
      config,
      [
        '[req]\ndistinguished_name=dn\nx509_extensions=v3\nprompt=no\n[dn]\nCN=Test TSA',
        '[v3]\nextendedKeyUsage=critical,timeStamping\nbasicConstraints=CA:TRUE',
        '[tsa]\ndefault_tsa=one\n[one]\nserial=serial\ncrypto_device=builtin\nsigner_cert=tsa.pem',
        'certs=tsa.pem\nsigner_key=tsa.key\nsigner_digest=sha256\ndefault_policy=1.2.3.4.1',
        'digests=sha256\naccuracy=secs:1\nordering=yes\ntsa_name=yes\ness_cert_id_chain=no\n',
      ].join('\n'),
    );
    writeFileSync(join(dir, 'serial'), '01\n');
    const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout', 'tsa.key', '-out', 'tsa.pem'];
    openssl('req', '-x509', '-config', config, '-days', '2', ...key);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => void server.close());

  test.skipIf(!isThere)(
    '[RC6] stamps a head, which openssl confirms, and a stamp on another head is refused',
    async () => {
      const head = parseSignedHead(readFileSync(join(outside, 'anchors.ndjson'), 'utf8').trim());
      if (head === null) throw new Error('there is an anchor');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const answer = await requestStamp(url, headText(head));
      if ('problem' in answer) throw new Error(answer.problem);
      expect(answer.stamp).toMatchObject({ subject: 'CN=Test TSA' });
      expect(Math.abs(answer.stamp.at.getTime() - Date.now())).toBeLessThan(600_000);
      writeFileSync(join(dir, 'token.der'), answer.token);
      writeFileSync(join(dir, 'text'), headText(head));
      const told = ['-data', 'text', '-in', 'token.der', '-token_in', '-CAfile', 'tsa.pem'];
      expect(openssl('ts', '-verify', ...told)).toContain('Verification: OK');

      const stamp = answer.token.toString('base64');
      const other = { synod_head: 1, ...head, position: head.position - 1, stamp };
      writeFileSync(join(outside, 'stamped.ndjson'), `${JSON.stringify(other)}\n`);
      const ran = await synod('log', 'verify', '--anchors', 'stamped.ndjson');
      expect([ran.code, ran.stderr]).toEqual([65, expect.stringContaining('time stamp')]);
      const asked = ['log', 'anchor', '--file', 'by-authority.ndjson', '--rfc3161', url];
      const anchored = await synod(...asked);
      expect([anchored.code, anchored.stdout]).toEqual([0, expect.stringContaining('Test TSA')]);
      const held = await synod('log', 'verify', '--anchors', 'by-authority.ndjson');
      expect([held.code, held.stdout]).toEqual([0, expect.stringContaining('1 anchor holds')]);
      const refused = await requestStamp(`${url}`.replace(/\d+\/$/, '1/'), headText(head));
      expect(refused).toMatchObject({ problem: expect.stringContaining('cannot be reached') });
    },
  );
});
