/** Names, which may be others' words too, and values in two columns; a value that is null is left out. */
import type { ReactNode } from 'react';
import { Words } from './words.tsx';

export type Fact = readonly [name: string, value: ReactNode | null];

export function Facts({ rows }: { readonly rows: readonly Fact[] }): ReactNode {
  return (
    <dl className="facts">
      {rows.map(
        ([name, value]) =>
          value !== null && (
            <div key={name}>
              <dt>
                <Words text={name} />
              </dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
