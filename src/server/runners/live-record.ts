/**
 * The process groups of turns, on disk, so that the next hub ends what a killed one left [RU6]. The
 * reaper does it at once; this is for when it could not. A group is named by its leader's number,
 * when that began and the mark of its environment, so that no stranger's process is ever ended.
 */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import type { GroupRecord } from '../../bus/process/line-process.ts';
import { MARK, prepareGroups } from '../../bus/process/live-groups.ts';
import { killMarked } from '../../bus/process/marked.ts';
import { bornAt, signalGroup } from '../../bus/process/process-groups.ts';

export type LiveRecord = GroupRecord;

/** Ends what the record names first; answers it empty. */
export async function openLiveRecord(path: string): Promise<LiveRecord> {
  const boot = bootId();
  await endRecorded(readRecord(path), boot);
  // The mark comes first: a process that was started and not yet written down is found by it.
  const head = `boot ${boot}\nmark ${prepareGroups().mark}\n`;
  writeFileSync(path, head, { mode: 0o600 });
  let living = 0;
  return {
    add(pid, mark) {
      living += 1;
      appendFileSync(path, `+ ${pid} ${bornAt(pid)} ${mark}\n`);
    },
    remove(pid) {
      living -= 1;
      if (living === 0) writeFileSync(path, head);
      else appendFileSync(path, `- ${pid}\n`);
    },
  };
}

interface Recorded {
  readonly boot: string;
  readonly marks: readonly string[];
  readonly groups: ReadonlyMap<number, string>;
}

function readRecord(path: string): Recorded | null {
  let lines: string[];
  try {
    lines = readFileSync(path, 'utf8').split('\n');
  } catch {
    return null;
  }
  const marks: string[] = [];
  const groups = new Map<number, string>();
  let boot = '';
  for (const line of lines) {
    const [sign, one = '', born = ''] = line.split(' ');
    if (sign === 'boot') boot = one;
    else if (sign === 'mark' && MARK.test(one)) marks.push(one);
    else if (sign === '+' && /^[1-9]\d*$/.test(one)) groups.set(Number(one), born);
    else if (sign === '-') groups.delete(Number(one));
  }
  return { boot, marks, groups };
}

async function endRecorded(record: Recorded | null, boot: string): Promise<void> {
  // After a restart of the machine nothing of it is left, and its numbers are others'.
  if (record === null || record.boot !== boot) return;
  for (const [pid, born] of record.groups) {
    if (pid > 1 && born !== '-' && bornAt(pid) === born) signalGroup(pid, 'SIGKILL', false);
  }
  for (const mark of record.marks) await killMarked(mark);
}

/** Empty where the system does not tell it. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
