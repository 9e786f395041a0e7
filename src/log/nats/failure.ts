/** What went wrong at the NATS server, as a failure of a log that says what to do. */
import { LogError } from '../log.ts';

/** Codes of the JetStream API; the names are the server's. */
export const API = {
  noMessage: 10_037,
  notNow: 10_008,
  notEnabled: 10_076,
  notEnabledForAccount: 10_039,
  streamNotFound: 10_059,
  streamNameInUse: 10_058,
  replicasNotSupported: 10_074,
  noSuitablePeers: 10_005,
  insufficientStorage: 10_047,
  insufficientResources: 10_023,
  storeFailed: 10_077,
  wrongLastSequence: 10_071,
} as const;

export function apiCode(error: unknown): number | null {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'number' ? code : null;
}

export function natsFailure(path: string, tried: string, error: unknown): LogError {
  if (error instanceof LogError) return error;
  const why = error instanceof Error ? error.message : String(error);
  const name = error instanceof Error ? error.name : '';
  return new LogError('log.unavailable', `cannot ${tried} ${path}: ${wordsOf(name, why, error)}`, {
    cause: error,
    path,
  });
}

const NO_ROOM: ReadonlySet<number> = new Set([
  ...[API.insufficientStorage, API.insufficientResources, API.storeFailed],
]);

function wordsOf(name: string, why: string, error: unknown): string {
  const code = apiCode(error);
  if (name === 'AuthorizationError' || name === 'UserAuthenticationExpiredError')
    return `the server refuses these credentials (${why}); mend the user, token or creds of the store`;
  if (name === 'PermissionViolationError' || /permissions violation/i.test(why))
    return `the server does not let this user do that (${why}); its permissions need the subjects of the prefix and $JS.API.>`;
  if ((error as { code?: unknown } | null)?.code === 'ENOENT')
    return `a file that the store names is not there (${why}); mend creds or ca`;
  const certificate = certificateWords(error, why);
  if (certificate !== null) return certificate;
  if (/'tls'|\bTLS\b|\bSSL\b/.test(why))
    return `the server and the store do not agree about TLS (${why}); mend tls and ca of the store, or the server`;
  if (name === 'TimeoutError')
    return `no answer came in time (${why}); mend the address of the store, or start so many of its servers that JetStream has a leader, and try again`;
  if (name === 'ConnectionError' || /ECONNREFUSED|CONNECTION_REFUSED/.test(why))
    return `no NATS server answers (${why}); start one, or mend the address of the store`;
  if (
    name === 'JetStreamNotEnabled' ||
    code === API.notEnabled ||
    code === API.notEnabledForAccount
  )
    return 'the server, or the account of this user, runs without JetStream; start it with -js and a storage directory';
  if (code === API.notNow)
    return `JetStream has no leader there now (${why}); start so many of its servers that it has one, and try again`;
  if (code !== null && NO_ROOM.has(code))
    return `the server has no room left (${why}); nothing that it acknowledged is lost: give JetStream more, or compact the log`;
  if (code === API.replicasNotSupported || code === API.noSuitablePeers)
    return `so many replicas are not to be had there (${why}); with one server say ?replicas=1, which asks for sync_interval: always, or durability=relaxed`;
  if (code === API.streamNotFound)
    return 'its stream is gone; if a compaction replaced it, open the log again, else restore it from an export';
  return why;
}

const UNVERIFIED: ReadonlySet<unknown> = new Set([
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'CERT_UNTRUSTED'],
  ...['UNABLE_TO_GET_ISSUER_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ...['CERT_SIGNATURE_FAILURE', 'INVALID_CA'],
]);

/** Null where it is not the certificate of the server that is wrong. */
function certificateWords(error: unknown, why: string): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  // Behind it Node tells what its own users may do.
  const [said] = why.split(';');
  if (UNVERIFIED.has(code))
    return `the certificate of the server is of no authority that is known here (${said}); name the file of its authority as ca of the store`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `the certificate of the server is for another address (${said}); name the server in the store as its certificate does`;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return `the certificate of the server is not good now (${said}); renew it, or mend the clock`;
  return null;
}
