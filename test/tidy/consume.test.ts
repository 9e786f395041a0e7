/** Whoever is told by JetStream notices that it is told no more: one file knows how, and nobody goes past it. */
import { expect, test } from 'vitest';
import { listFiles, readText } from './repository.ts';

const ASKS = /\bconsumers\.get\(|\.consume\(|\.fetch\(\{\s*max_messages/;

test('[NL11] one file alone has JetStream tell of messages', () => {
  const found = listFiles('src', '.ts').filter((path) => ASKS.test(readText(path)));
  expect(found).toEqual(['src/log/nats/consume.ts']);
});
