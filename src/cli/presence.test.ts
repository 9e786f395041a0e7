import { expect, test } from 'vitest';
import { rowOf, type Seen } from './presence.ts';

const SILENT = {
  ...{ connections: 0, last_heartbeat: null, last_call: null, last_operation: null },
  ...{ last_hook: null, process: null },
};

function row(fields: Partial<Seen>, evidence: Partial<Seen['evidence']> = {}): string {
  return rowOf({
    ...{ agent_id: 'ada', project: null, roles: [], state: 'idle', since: null, note: null },
    ...{ claims: 0, owed: 0 },
    ...fields,
    evidence: { ...SILENT, ...evidence },
  }).join(' | ');
}

test('[CL34] who called a moment ago was seen; who holds lines is connected, however many', () => {
  const now = Date.now() / 1000;
  const called = { last_call: now - 19.5, last_operation: 'claims_release' };
  expect(row({ state: 'connected', since: now - 40 }, called)).toBe(
    'ada | seen 19 s ago | - | called claims_release 19 s ago',
  );
  expect(row({ since: now - 5.5, claims: 1, owed: 2 }, { connections: 4 })).toBe(
    'ada | idle for 5 s | 1 claim, 2 unread | connected',
  );
  expect(row({ state: 'connected', since: now - 5.5 }, { connections: 1, ...called })).toContain(
    'connected for 5 s',
  );
  expect(row({ state: 'gone', claims: 2 })).toBe('ada | gone | 2 claims | no sign of life');
});
