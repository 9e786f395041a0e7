/**
 * The record as the server keeps it, and the key that signs its heads: one that was chosen must be fit, or
 * the hub does not start; where nobody chose and the usual place cannot be used, it serves without and
 * says so.
 */
import { LogError } from '../../log/log.ts';
import type { SigningKey } from '../../log/signed-head.ts';
import { ensureSigningKey, isWithin } from '../../log/signing-key-file.ts';
import { createRecordKeeper, type RecordKeeper } from '../record/keeper.ts';
import type { Config } from './config.ts';
import type { ServerLog } from './server-log.ts';

export function openRecord(
  config: Config,
  log: ServerLog,
  report: (what: string, cause: unknown) => void,
  verifyAfterMs: number | undefined,
): RecordKeeper {
  return createRecordKeeper({
    key: openKey(config, log),
    now: Date.now,
    onTrouble: report,
    verifyAfterMs,
  });
}

function openKey({ recordKey, dir }: Config, log: ServerLog): SigningKey | null {
  const { path, isChosen } = recordKey;
  try {
    return ensureSigningKey(path, dir);
  } catch (cause) {
    const isUnfit = cause instanceof LogError && cause.code === 'log.key';
    // A home inside the data directory is nobody's fault; a key that others can read is to be seen to.
    if (isChosen || (isUnfit && !isWithin(path, dir))) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    log('warn', `heads of logs are not signed: ${why}; choose a place with record_key`);
    return null;
  }
}
