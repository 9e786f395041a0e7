/**
 * What a child and everything it started use, as the system counts it: memory, processor time, open
 * files [SU6]. Its processes are those of its group, their children wherever they went, and orphans that
 * carry its mark. One look at the process table serves everybody who asks in the same moment.
 *
 * Only Linux tells; elsewhere nothing is measured, and null says so.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { MARK_NAME } from './live-groups.ts';

export interface Measured {
  readonly memoryMb: number;
  readonly cpuSeconds: number;
  /** Of the process that has most open. */
  readonly files: number;
  readonly processes: number;
}

interface Row {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly ticks: number;
}

/** One hundred a second on every Linux there is. */
const TICKS_A_SECOND = 100;
const FRESH_MS = 100;

let table: readonly Row[] = [];
let lookedAt = Number.NEGATIVE_INFINITY;

/** Null where it cannot be told, and when nothing of it is there. */
export function measure(pid: number, mark: string): Measured | null {
  if (process.platform !== 'linux') return null;
  const rows = familyOf(processes(), pid, mark);
  if (rows.length === 0) return null;
  const sum = (of: (row: Row) => number): number => rows.reduce((all, row) => all + of(row), 0);
  return {
    memoryMb: round(sum(({ pid: one }) => residentKb(one)) / 1_024),
    cpuSeconds: round(sum(({ ticks }) => ticks) / TICKS_A_SECOND),
    files: Math.max(...rows.map((row) => filesOf(row.pid))),
    processes: rows.length,
  };
}

/** The command line of a process, its words ended by zero bytes; null when it is not there. */
export function commandLineOf(pid: number): string | null {
  return read(`/proc/${pid}/cmdline`);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function processes(): readonly Row[] {
  if (performance.now() - lookedAt < FRESH_MS) return table;
  lookedAt = performance.now();
  table = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (rowOf(name) ?? []) : []));
  return table;
}

/** After the name, which may hold anything: state, parent, group, … as proc(5) numbers them from 3. */
function rowOf(pid: string): Row | null {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  const number = (field: number): number => Number(fields[field - 3]);
  return {
    ...{ pid: Number(pid), parent: number(4), group: number(5) },
    // Its own, and those of its children that are gone.
    ticks: number(14) + number(15) + number(16) + number(17),
  };
}

function familyOf(rows: readonly Row[], leader: number, mark: string): Row[] {
  const children = Map.groupBy(rows, ({ parent }) => parent);
  const family = new Map<number, Row>();
  const add = (row: Row): void => {
    if (family.has(row.pid) || row.pid === process.pid) return;
    family.set(row.pid, row);
    for (const child of children.get(row.pid) ?? []) add(child);
  };
  for (const row of rows) if (row.pid === leader || row.group === leader) add(row);
  // Who left its parent was taken over by init, but took its environment along.
  for (const row of children.get(1) ?? []) if (isMarked(row.pid, mark)) add(row);
  return [...family.values()];
}

function isMarked(pid: number, mark: string): boolean {
  const environment = read(`/proc/${pid}/environ`);
  return environment !== null && `\0${environment}`.includes(`\0${MARK_NAME}=${mark}`);
}

/** What it holds in memory now. */
function residentKb(pid: number): number {
  const [, kb = '0'] = /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`) ?? '') ?? [];
  return Number(kb);
}

function filesOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    // It ended, or became another user's.
    return 0;
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // It ended while we looked, or is not ours to look into.
    return null;
  }
}
