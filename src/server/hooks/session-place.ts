/** Where the sessions of coding agents are written down: apart, so that whether there are any is known without loading more. */
import { join } from 'node:path';

export function sessionsPath(dir: string): string {
  return join(dir, 'sessions.json');
}
