/** What stands around every room: the top line, the rail, and the room itself. */
import type { ReactNode } from 'react';

export function Frame(): ReactNode {
  return (
    <main>
      <h1>Synod</h1>
    </main>
  );
}
