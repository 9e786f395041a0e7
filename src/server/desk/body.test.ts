import { expect, test } from 'vitest';
import { isRefusal } from '../../core/law/decider.ts';
import { BODY_BYTES_MAX } from '../../core/law/limits.ts';
import { bodyText } from './body.ts';

/** How long a text is that makes `{"text":"…"}` just as large as a body may be. */
const FITTING = BODY_BYTES_MAX - '{"text":""}'.length;

function refusedAs(body: Record<string, unknown>): string | null {
  const text = bodyText(body);
  return isRefusal(text) ? text.refused : null;
}

test('[M6] a body is as large as may be, and not a byte larger, in bytes of UTF-8', () => {
  expect(refusedAs({ text: 'x'.repeat(FITTING) })).toBeNull();
  expect(refusedAs({ text: 'x'.repeat(FITTING + 1) })).toBe('body.too-large');
  const half = Math.floor(FITTING / 2);
  expect(refusedAs({ text: 'é'.repeat(half) })).toBeNull();
  expect(refusedAs({ text: 'é'.repeat(half + 1) })).toBe('body.too-large');
  const quarter = Math.floor(FITTING / 4);
  expect(refusedAs({ text: '🙂'.repeat(quarter) })).toBeNull();
  expect(refusedAs({ text: '🙂'.repeat(quarter + 1) })).toBe('body.too-large');
});

test('[M6] what cannot fit is refused without writing it as JSON', () => {
  let written = 0;
  const body = {
    texts: ['x'.repeat(BODY_BYTES_MAX / 2), { more: 'x'.repeat(BODY_BYTES_MAX / 2) }],
    toJSON: () => ++written,
  };
  expect([refusedAs(body), written]).toEqual(['body.too-large', 0]);
});

test('[M6] depth is refused before size', () => {
  let deep: Record<string, unknown> = { text: 'x'.repeat(BODY_BYTES_MAX) };
  for (let level = 0; level < 64; level++) deep = { deep };
  expect(refusedAs(deep)).toBe('body.too-deep');
});
