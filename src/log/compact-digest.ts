/**
 * What a compaction leaves and how it is proved: the digest of batches as they lie, which its record
 * gives and verify compares, and what an entry without its body looks like.
 */
import type { Hash } from 'node:crypto';
import type { StoredBatch } from './log.ts';

/** Adds a batch as it is stored: its place, its head and its bytes. */
export function addToDigest(digest: Hash, { first, count, head, bytes }: StoredBatch): void {
  digest.update(`${first} ${count} ${head}\n`).update(bytes);
}

/** Whether the entry says that its body was dropped; then nothing else may lie in its place. */
export function isStub(entry: string): boolean {
  const fields = fieldsOf(entry);
  return fields?.dropped === true && JSON.stringify(fields.body) === '{}';
}

/** Whether this is what a compaction leaves of an entry: all of it but its body. */
export function isStubOf(entry: string, before: string): boolean {
  return isStub(entry) && headOf(entry) === headOf(before);
}

function headOf(entry: string): string {
  const { body: _, dropped: __, ...head } = fieldsOf(entry) ?? {};
  return JSON.stringify(head);
}

function fieldsOf(entry: string): Readonly<Record<string, unknown>> | null {
  try {
    const fields: unknown = JSON.parse(entry);
    return typeof fields === 'object' && fields !== null ? { ...fields } : null;
  } catch {
    // The log takes any text; what is no JSON has no body to drop.
    return null;
  }
}
