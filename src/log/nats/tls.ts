/** TLS to NATS: whose certificates are good, and for which addresses. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import type { TlsOptions } from '@nats-io/transport-node';
import { LogError } from '../log.ts';
import type { NatsPlace } from './place.ts';

export function tlsOptions({ servers }: NatsPlace, ca: string | null): TlsOptions {
  if (ca !== null) requireCertificate(ca);
  const addresses = servers
    .map((server) => server.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1'))
    .filter((host) => isIP(host) !== 0);
  const options: TlsOptions & Pick<ConnectionOptions, 'checkServerIdentity'> = {
    ...(ca !== null && { caFile: ca }),
    // For a server that is named by its address the package names none, and Node takes that for localhost.
    checkServerIdentity(host, certificate) {
      const hosts = host === 'localhost' && addresses.length > 0 ? addresses : [host];
      const flaws = hosts.map((one) => checkServerIdentity(one, certificate));
      return flaws.includes(undefined) ? undefined : flaws[0];
    },
  };
  return options;
}

function requireCertificate(path: string): void {
  if (readFileSync(path, 'utf8').includes('-----BEGIN CERTIFICATE-----')) return;
  throw new LogError(
    'log.unavailable',
    `${path} holds no certificate (PEM, with BEGIN CERTIFICATE); name the file of the authority of NATS as ca of the store`,
    { path },
  );
}
