/** Across the page while it shows the past: which moment, and the way back. */
import type { ReactNode } from 'react';
import { Clock, dayText } from '../parts/ago.tsx';
import { Button } from '../parts/button.tsx';
import { useCell } from '../store/cell.ts';
import { useStore } from '../store/use-store.ts';

export function ThenBand(): ReactNode {
  const { past, pastAt } = useStore();
  const position = useCell(past);
  const at = useCell(pastAt);
  return (
    <div className="then" role="status">
      {position !== null && (
        <p>
          <span>
            As it was
            {at !== null && (
              <>
                {' '}
                at {dayText(at) !== dayText(Date.now() / 1_000) && `${dayText(at)} `}
                <Clock at={at} />
              </>
            )}
            , position {position.toLocaleString('en')}
          </span>
          <span className="then-off">nothing can be done here</span>
          <Button onClick={() => past.set(null)}>Back to now</Button>
        </p>
      )}
    </div>
  );
}
