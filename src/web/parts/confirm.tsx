/** Asks once more before something is done that others notice. */
import { type ReactNode, useState } from 'react';
import { useCell } from '../store/cell.ts';
import { useStore } from '../store/use-store.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

interface ConfirmProps {
  /** On the button that begins it, and on the one that does it. */
  readonly act: string;
  readonly title: string;
  readonly children: ReactNode;
  run(): Promise<unknown>;
}

/** A button that asks before it acts; there is none in the past. */
export function Confirm({ act, title, children, run }: ConfirmProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const isPast = useCell(useStore().past) !== null;
  const close = (): void => setOpen(false);
  return (
    <>
      <Button disabled={isPast} onClick={() => setOpen(true)}>
        {act}…
      </Button>
      {isOpen && (
        <Dialog title={title} onClose={close}>
          {children}
          <div className="dialog-foot">
            <Button onClick={close}>Leave it</Button>
            <Button isMain onClick={() => void run().finally(close)}>
              {act}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
