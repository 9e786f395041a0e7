/**
 * Before the owner's credential is shown over TCP the hub proves that it knows it [CL3]. A process id
 * says little: it may be another program's by now, and the port anybody's.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isFields, parseJson, textOf } from '../../wire/fields.ts';
import { PROOF_PATH, proofText } from '../../wire/proof.ts';
import { SynodError } from '../error.ts';
import type { Target } from './target.ts';

const PROOF_MS = 5_000;
/** A hub that died since may have left its port to another. */
const PROVED_FOR_MS = 5_000;
/** When hubs have proved themselves to this process, by address and credential. */
const proved = new Map<string, number>();

export function isProved({ url, token }: Target): boolean {
  const at = proved.get(`${url.origin} ${token}`);
  return at !== undefined && performance.now() - at < PROVED_FOR_MS;
}

/** Throws when what answers there does not know the credential. */
export async function checkProof(target: Target): Promise<void> {
  const { url, dir, token } = target;
  if (token === null || isProved(target)) return;
  const nonce = randomBytes(16).toString('hex');
  const signal = AbortSignal.timeout(PROOF_MS);
  const response = await fetch(`${url.origin}${PROOF_PATH}?nonce=${nonce}`, {
    ...{ signal, redirect: 'error' },
  });
  const answer = parseJson(await response.text());
  const given = isFields(answer) ? (textOf(answer, 'proof') ?? '') : '';
  const wanted = createHmac('sha256', token).update(proofText(nonce)).digest('hex');
  const isRight =
    given.length === wanted.length && timingSafeEqual(Buffer.from(given), Buffer.from(wanted));
  if (!isRight) {
    throw new SynodError(
      'hub.foreign',
      `what answers at ${url.origin} does not know the credential of ${dir}, so it was not shown`,
      {
        detail: { hint: 'start the hub of this directory with "synod up", or name one with --url' },
      },
    );
  }
  proved.set(`${url.origin} ${token}`, performance.now());
}
