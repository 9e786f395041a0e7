/** The session book on a real disk, with real processes for the harnesses. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Vendor } from '../../wire/tool-names.ts';
import {
  openSessionBook,
  SESSIONS_MAX,
  type SessionBook,
  type SessionBookOptions,
  type SessionFacts,
} from './session-book.ts';

let dir: string;
let children: ChildProcess[];
let books: SessionBook[];
const troubles: string[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'synod-book-'));
  children = [];
  books = [];
  troubles.length = 0;
});
afterEach(async () => {
  for (const book of books) await book.close();
  for (const child of children) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

const path = (): string => join(dir, 'sessions.json');

async function open(options: Partial<SessionBookOptions> = {}): Promise<SessionBook> {
  const onTrouble = (what: string): void => void troubles.push(what);
  const book = await openSessionBook({ path: path(), onTrouble, ...options });
  books.push(book);
  return book;
}

function harness(): number {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  children.push(child);
  return child.pid as number;
}

async function end(pid: number): Promise<void> {
  const child = children.find((one) => one.pid === pid) as ChildProcess;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

function facts(vendor: Vendor, session: string | null, rest: Partial<SessionFacts> = {}) {
  return { space: 'default', vendor, session, parent: null, name: null, ...rest };
}

describe('names', () => {
  test('[SB3] the vendor’s own name, and a number while a live session has it', async () => {
    const book = await open();
    const [one, two, three] = [harness(), harness(), harness()];
    expect(book.join(facts('claude', 'a', { parent: one })).agent).toBe('claude');
    expect(book.join(facts('claude', 'b', { parent: two })).agent).toBe('claude-2');
    expect(book.join(facts('codex', 'a', { parent: three })).agent).toBe('codex');
    expect(book.join(facts('claude', 'a', { space: 'other' })).agent).toBe('claude');
    await end(one);
    expect(book.join(facts('claude', 'c', { parent: three })).agent).toBe('claude');
  });

  test('[SB2] a name somebody chose wins, and stays with the session', async () => {
    const book = await open();
    const parent = harness();
    expect(book.join(facts('claude', 'a', { parent })).agent).toBe('claude');
    expect(book.join(facts('claude', 'a', { parent, name: 'ada' })).agent).toBe('ada');
    expect(book.join(facts('claude', 'a', { parent })).agent).toBe('ada');
    await book.close();
    expect((await open()).join(facts('claude', 'a', { parent })).agent).toBe('ada');
    for (const name of ['', 'two words', '__server__', 'a*']) {
      expect(book.join(facts('claude', 'a', { parent, name })).agent).toBe('ada');
    }
  });
});

describe('one session, one name', () => {
  test('[SB1] through an end, a resume in another process, and a restart of the hub', async () => {
    const book = await open();
    const [first, second] = [harness(), harness()];
    book.join(facts('claude', 'x', { parent: first }));
    const mine = book.join(facts('claude', 'a', { parent: second }));
    expect(mine.agent).toBe('claude-2');
    book.end(mine);
    await book.close();
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    const again = await open();
    expect(again.join(facts('claude', 'a', { parent: harness() })).agent).toBe('claude-2');
  });

  test('[SB1] a hook that is answered after its hub closed writes nothing', async () => {
    const book = await open();
    book.join(facts('claude', 'a', { parent: harness() }));
    await book.close();
    const told = readFileSync(path(), 'utf8');
    rmSync(dir, { recursive: true });
    book.join(facts('claude', 'b', { parent: harness() }));
    await book.close();
    expect(told).toContain('claude');
    expect([existsSync(dir), troubles]).toEqual([false, []]);
  });

  test('[SB5] whoever comes back to a name that another lives under gets a new one', async () => {
    const book = await open();
    const old = book.join(facts('claude', 'a', { parent: harness() }));
    book.end(old);
    expect(book.join(facts('claude', 'b', { parent: harness() })).agent).toBe('claude');
    expect(book.join(facts('claude', 'a', { parent: harness() })).agent).toBe('claude-2');
    expect(book.join(facts('claude', 'a')).agent).toBe('claude-2');
  });
});

describe('a server that is not told its session', () => {
  test.each(['claude', 'gemini'] as const)(
    '[SB4] %s: the process that started both tells, whoever speaks first',
    async (vendor) => {
      const book = await open();
      const [one, two] = [harness(), harness()];
      const byServer = book.join(facts(vendor, null, { parent: one }));
      expect(book.join(facts(vendor, 'a', { parent: one }))).toBe(byServer);
      const byHook = book.join(facts(vendor, 'b', { parent: two }));
      expect(book.join(facts(vendor, null, { parent: two }))).toBe(byHook);
      expect(byHook.agent).toBe(`${vendor}-2`);
      // Cleared or forked: another id in the same process.
      expect(book.join(facts(vendor, 'c', { parent: two })).agent).toBe(`${vendor}-2`);
    },
  );

  test('[SB4] who says another name in the same process is another agent', async () => {
    const book = await open();
    const parent = harness();
    const first = book.join(facts('claude', 'a', { parent }));
    expect(book.join(facts('claude', 'b', { parent, name: 'ada' })).agent).toBe('ada');
    expect(book.join(facts('claude', 'a', { parent }))).toBe(first);
    expect(first.agent).toBe('claude');
  });

  test('[SB4] codex: threads of one daemon are told apart', async () => {
    const book = await open();
    const parent = harness();
    expect(book.join(facts('codex', 't1', { parent })).agent).toBe('codex');
    expect(book.join(facts('codex', 't2', { parent })).agent).toBe('codex-2');
    expect(book.join(facts('codex', 't1', { parent })).agent).toBe('codex');
  });

  test('[SB4] codex: a server that knows only the process is the thread that comes from it', async () => {
    const book = await open();
    const parent = harness();
    const server = book.join(facts('codex', null, { parent }));
    expect(book.join(facts('codex', 't1', { parent }))).toBe(server);
  });

  test('[SB4] opencode: all sessions of one process are one agent', async () => {
    const book = await open();
    const [one, two] = [harness(), harness()];
    const server = book.join(facts('opencode', null, { parent: one }));
    expect(book.join(facts('opencode', 'a', { parent: one }))).toBe(server);
    expect(book.join(facts('opencode', 'b', { parent: one }))).toBe(server);
    expect(book.join(facts('opencode', 'c', { parent: two })).agent).toBe('opencode-2');
  });

  test('[SB4] a pid that was used again is another process', async () => {
    let mark = 'first';
    const book = await open({ markOf: () => mark });
    const one = book.join(facts('gemini', 'a', { parent: 4711 }));
    mark = 'second';
    expect(book.join(facts('gemini', 'b', { parent: 4711 }))).not.toBe(one);
  });
});

test('[SB1] a file that is no session book is kept aside and named', async () => {
  writeFileSync(path(), '{"version":1,"sessions":[{"agent":7}]}');
  const book = await open();
  expect(book.list()).toEqual([]);
  expect(troubles).toEqual([expect.stringContaining('sessions.json.bad')]);
  expect(existsSync(`${path()}.bad`)).toBe(true);
  book.join(facts('claude', 'a'));
  await book.close();
  expect(JSON.parse(readFileSync(path(), 'utf8')).sessions).toHaveLength(1);
});

test('[SB6] the book is bounded, and forgets first who is gone and silent longest', async () => {
  let at = 1_000_000;
  const book = await open({ now: () => at });
  const alive = book.join(facts('claude', 'alive', { parent: harness() }));
  for (let i = 0; i < SESSIONS_MAX + 10; i++) {
    at += 1;
    book.end(book.join(facts('gemini', `s${i}`)));
  }
  expect(book.list()).toHaveLength(SESSIONS_MAX);
  expect(book.list()).toContain(alive);
  expect(book.list().some(({ session }) => session === 's0')).toBe(false);
  await book.close();
});
