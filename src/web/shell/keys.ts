/**
 * The keyboard. Single keys that do nothing while somebody types: `g` and a letter go to a room, j and k
 * move between rows, and a room adds its own with `useKeys`. `?` lists what holds now, so a key that
 * is not on that list does not exist.
 */
import { useEffect } from 'react';
import { type Cell, createCell } from '../store/cell.ts';
import { go, ROOMS, type Room } from '../store/route.ts';

export interface Key {
  readonly key: string;
  /** What it does, for the sheet. */
  readonly does: string;
  run(event: KeyboardEvent): void;
}

/** Whether the sheet is open. */
export const sheet: Cell<boolean> = createCell(false);
/** Somebody wants to search; the field takes it as soon as it is there. */
export const wantsSearch: Cell<boolean> = createCell(false);
/** What rooms added, the newest last. */
export const added: Cell<readonly Key[]> = createCell<readonly Key[]>([]);
const SECOND_KEY_MS = 1_500;
let since = 0;

/** Adds keys for as long as the component stands; the list is kept stable by the caller. */
export function useKeys(keys: readonly Key[]): void {
  useEffect(() => {
    added.set([...added.get(), ...keys]);
    return () => added.set(added.get().filter((one) => !keys.includes(one)));
  }, [keys]);
}

export function listenToKeys(): () => void {
  addEventListener('keydown', onKey);
  return () => removeEventListener('keydown', onKey);
}

function onKey(event: KeyboardEvent): void {
  const { key, ctrlKey, metaKey, altKey } = event;
  if (ctrlKey || metaKey || altKey || event.defaultPrevented) return;
  if (document.querySelector('dialog[open]') !== null) return;
  if (isTyping(event.target)) {
    // Escape leaves the field; the next one is the room's.
    if (key === 'Escape') (event.target as HTMLElement).blur();
    return;
  }
  if (since > 0 && performance.now() - since < SECOND_KEY_MS) {
    since = 0;
    const room = ROOMS.find((one) => one.startsWith(key));
    if (room !== undefined) return done(event, () => enter(room));
  }
  const run = [...added.get()].reverse().find((one) => one.key === key);
  if (run !== undefined) return done(event, () => run.run(event));
  if (key === 'g') since = performance.now();
  else if (key === '?') done(event, () => sheet.set(true));
  else if (key === '/') done(event, search);
  else if (key === 'j' || key === 'ArrowDown') move(event, 1);
  else if (key === 'k' || key === 'ArrowUp') move(event, -1);
}

function done(event: KeyboardEvent, run: () => void): void {
  event.preventDefault();
  run();
}

function enter(room: Room): void {
  go(room);
  document.getElementById('room')?.focus();
}

function search(): void {
  if (!location.hash.startsWith('#/talk')) go('talk');
  wantsSearch.set(true);
}

/**
 * To the next row of the list that has the focus, or of the room's main one. Of a talk, where the newest is
 * at the end, one begins there.
 */
function move(event: KeyboardEvent, step: 1 | -1): void {
  const room = document.getElementById('room');
  const here = document.activeElement;
  const list =
    here?.closest<HTMLElement>('[data-rows]') ??
    room?.querySelector<HTMLElement>('[data-rows="main"], [data-rows="end"]') ??
    room;
  const rows = [...(list?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
  if (rows.length === 0) return;
  const at = rows.findIndex((row) => row === here || row.contains(here));
  const isFromEnd = step < 0 || list?.dataset.rows === 'end';
  const next = rows[at < 0 ? (isFromEnd ? rows.length - 1 : 0) : at + step];
  done(event, () => {
    next?.focus();
    next?.scrollIntoView({ block: 'nearest' });
  });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
