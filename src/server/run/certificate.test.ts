import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureCertificate, makeCertificate } from './certificate.ts';

const NOW = Date.UTC(2026, 5, 1, 12);

test.each(['192.168.1.20', '10.0.0.3', 'fd00::1', 'fe80::1234:5678:9abc:def0', '::1'])(
  '[WD8] a certificate is for %s alone, signed by its own key',
  (address) => {
    const { key, cert, fingerprint } = makeCertificate(address, NOW);
    const parsed = new X509Certificate(cert);
    expect(parsed.checkIP(address)).toBe(address);
    expect(parsed.checkIP('192.168.1.21')).toBe(undefined);
    expect(parsed.verify(parsed.publicKey)).toBe(true);
    expect(parsed.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect([parsed.ca, parsed.subject, parsed.issuer]).toEqual([false, 'CN=Synod', 'CN=Synod']);
    expect(parsed.validFromDate.getTime()).toBe(NOW - 3_600_000);
    expect(parsed.validToDate.getTime()).toBe(NOW + 397 * 86_400_000);
    expect(parsed.fingerprint256).toBe(fingerprint);
    expect(parsed.serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
  },
);

test('[WD8] one that lasts until 2050 and longer says so as the RFC wants it', () => {
  const { cert } = makeCertificate('10.0.0.3', Date.UTC(2049, 11, 1));
  expect(new X509Certificate(cert).validToDate.getUTCFullYear()).toBe(2051);
});

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'synod-certificate-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

test('[WD8] it is kept, key and all, for its user alone, and used again', async () => {
  const first = await ensureCertificate(dir, '10.0.0.3');
  expect(await ensureCertificate(dir, '10.0.0.3')).toEqual(first);
  const path = join(dir, 'phone', '10.0.0.3.pem');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await ensureCertificate(dir, '10.0.0.4')).fingerprint).not.toBe(first.fingerprint);
  expect((await readdir(join(dir, 'phone'))).sort()).toEqual(['10.0.0.3.pem', '10.0.0.4.pem']);
});

test('[WD8] one that is broken, somebody else’s or about to run out is made anew', async () => {
  const path = join(dir, 'phone', '10.0.0.3.pem');
  const other = makeCertificate('10.0.0.9', Date.now());
  const old = makeCertificate('10.0.0.3', Date.now() - 380 * 86_400_000);
  const mixed = { key: other.key, cert: makeCertificate('10.0.0.3', Date.now()).cert };
  for (const { key, cert } of [{ key: 'x', cert: 'y' }, other, old, mixed]) {
    await writeFile(path, key + cert);
    const made = await ensureCertificate(dir, '10.0.0.3');
    expect(new X509Certificate(made.cert).checkIP('10.0.0.3')).toBe('10.0.0.3');
    expect(made.cert).not.toBe(cert);
  }
});
