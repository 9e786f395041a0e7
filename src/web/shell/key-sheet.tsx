/** The keys that hold right now. */
import type { ReactNode } from 'react';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { useCell } from '../store/cell.ts';
import { added, sheet } from './keys.ts';

const EVERYWHERE: readonly (readonly [keys: string, does: string])[] = [
  ['g n', 'Needs you'],
  ['g t', 'Talk'],
  ['g w', 'Work'],
  ['g a', 'Agents'],
  ['g r', 'Record'],
  ['g h', 'Health'],
  ['j k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Esc', 'leave a field or a dialog'],
  ['/', 'search messages'],
  ['?', 'this list'],
];

export function KeySheet(): ReactNode {
  const isOpen = useCell(sheet);
  const here = useCell(added);
  if (!isOpen) return null;
  const close = (): void => sheet.set(false);
  const rows = [...EVERYWHERE, ...here.map(({ key, does }) => [key, does] as const)];
  return (
    <Dialog title="Keys" onClose={close}>
      <dl className="keys">
        {rows.map(([keys, does]) => (
          <div key={`${keys} ${does}`}>
            <dt>
              {keys.split(' ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <div className="dialog-foot">
        <Button onClick={close}>Close</Button>
      </div>
    </Dialog>
  );
}
