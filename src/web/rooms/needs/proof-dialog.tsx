/** Asks who decides, and for the passphrase. It goes to the hub and is kept nowhere; the proof it gives is in this page's memory alone. */
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { SynodError } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Words } from '../../parts/words.tsx';
import { useCell } from '../../store/cell.ts';
import { canPasskey } from '../../store/passkey.ts';
import { useStore } from '../../store/use-store.ts';

/** The two clocks need not agree to the millisecond. */
const EARLY_MS = 100;

export function ProofDialog(): ReactNode {
  const { prover } = useStore();
  const names = useCell(prover.asking);
  return names === null ? null : <Ask names={names} />;
}

function Ask({ names }: { readonly names: readonly string[] }): ReactNode {
  const { prover } = useStore();
  const [name, setName] = useState(names[0] ?? '');
  const [passphrase, setPassphrase] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const id = useId();

  const fail = (error: unknown): void => {
    setProblem(error instanceof Error ? error.message : String(error));
    // Whoever guesses waits; asking before would only make it longer.
    const waitMs = error instanceof SynodError ? (error.retryAt ?? 0) - Date.now() : 0;
    setTimeout(setBusy, Math.max(0, waitMs) + EARLY_MS, false);
  };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      await prover.pass(name, passphrase);
    } catch (error) {
      setPassphrase('');
      fail(error);
    }
  };
  const touch = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      await prover.touch(name);
    } catch (error) {
      fail(error);
    }
  };
  return (
    <Dialog title="Prove that you are there" onClose={prover.cancel}>
      <form className="prove" onSubmit={(event) => void submit(event)}>
        {names.length > 1 ? (
          <label>
            Who
            <select
              className="field"
              value={name}
              onChange={(event) => setName(event.target.value)}
            >
              {names.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        ) : (
          <input type="hidden" autoComplete="username" value={name} />
        )}
        <label htmlFor={id}>
          Passphrase of <Words text={name} />
        </label>
        <input
          id={id}
          className="field"
          type="password"
          autoComplete="current-password"
          value={passphrase}
          autoFocus
          onChange={(event) => setPassphrase(event.target.value)}
        />
        <p className="broken" role="alert">
          {problem !== null && <Words text={problem} />}
        </p>
        <p className="quiet">
          Only a person approves or denies. The proof stays in this page, for a quarter of an hour.
        </p>
        <div className="dialog-foot">
          <Button onClick={prover.cancel}>Cancel</Button>
          {canPasskey() && (
            <Button onClick={() => void touch()} disabled={isBusy}>
              Use a passkey
            </Button>
          )}
          <Button type="submit" isMain disabled={isBusy || passphrase === ''}>
            Prove
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** How long the proof still holds, and a way to end it before. */
export function ProofHeld(): ReactNode {
  const { prover, say, complain } = useStore();
  const proof = useCell(prover.known);
  if (proof === null) return null;
  const until = new Date(proof.until * 1_000);
  return (
    <p className="quiet proof">
      proved as <Words text={proof.name} /> until{' '}
      {until.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}
      <button type="button" className="link" onClick={prover.forget}>
        forget
      </button>
      {canPasskey() && !proof.isByPasskey && (
        <button
          type="button"
          className="link"
          onClick={() => {
            prover
              .addPasskey()
              .then(() => say('this device has a passkey now; next time it is enough'), complain);
          }}
        >
          add a passkey
        </button>
      )}
    </p>
  );
}
