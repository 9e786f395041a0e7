/**
 * A frame as a Synapse client sends it: one flat JSON object. What is no object, or nests
 * too deep, is no frame. Fields are read leniently, as the protocol asks: what has another
 * type than expected counts as absent, and numbers are finite or absent [SY7].
 */

import { readJson } from '../../../core/law/json.ts';
import { isFields } from '../../../wire/fields.ts';

export type Frame = Readonly<Record<string, unknown>>;

const DEPTH_MAX = 64;

export function parseFrame(text: string): Frame | null {
  if (isDeeper(text, DEPTH_MAX)) return null;
  try {
    const value: unknown = readJson(text);
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

/** Looked at before parsing, so that no depth ever costs a stack. */
function isDeeper(text: string, levels: number): boolean {
  let depth = 0;
  let isInString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (isInString) {
      if (char === '\\') i++;
      else if (char === '"') isInString = false;
    } else if (char === '"') isInString = true;
    else if (char === '[' || char === '{') {
      if (++depth > levels) return true;
    } else if (char === ']' || char === '}') depth--;
  }
  return false;
}

/** The first of these fields that says something, trimmed; empty when none does. */
export function textOf(frame: Frame, ...names: readonly string[]): string {
  for (const name of names) {
    const value = own(frame, name);
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
  }
  return '';
}

/** A text that may be empty on purpose; undefined when there is none. */
export function maybeText(frame: Frame, name: string): string | undefined {
  const value = own(frame, name);
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(frame: Frame, name: string): number | undefined {
  const value = own(frame, name);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

export function flagOf(frame: Frame, name: string): boolean | undefined {
  const value = own(frame, name);
  return typeof value === 'boolean' ? value : undefined;
}

/** The words of a list, trimmed, each once; empty when it is no list. */
export function wordsOf(frame: Frame, name: string): string[] {
  const value = own(frame, name);
  if (!Array.isArray(value)) return [];
  const words = value.filter((one): one is string => typeof one === 'string');
  return [...new Set(words.map((one) => one.trim()).filter((one) => one !== ''))];
}

export function objectOf(frame: Frame, name: string): Record<string, unknown> | undefined {
  const value = own(frame, name);
  return isFields(value) ? value : undefined;
}

export function own(frame: Frame, name: string): unknown {
  return Object.hasOwn(frame, name) ? frame[name] : undefined;
}
