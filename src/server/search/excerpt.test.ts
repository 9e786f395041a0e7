import { expect, test } from 'vitest';
import { parseSearch, type SearchQuery } from '../../wire/search-query.ts';
import { excerptOf } from './excerpt.ts';

const excerpt = (body: Record<string, unknown>, query: string) =>
  excerptOf(body, (parseSearch(query) as SearchQuery).wanted);

test('[FT6] an excerpt is the text around what was found, and says where that is', () => {
  const { text, found } = excerpt(
    { note: 'nothing', deep: [{ said: '<b>The Parser</b> broke' }] },
    'pars*',
  );
  expect(text).toBe('<b>The Parser</b> broke');
  expect(found.map(([from, to]) => text.slice(from, to))).toEqual(['Parser']);
});

test('[FT6] of a long text a part is shown, with whole characters', () => {
  const long = `${'🙂 '.repeat(500)}needle${' tail🙂'.repeat(500)}`;
  const { text, found } = excerpt({ text: long }, 'needle');
  expect(text.length).toBeLessThanOrEqual(202);
  expect(text.isWellFormed()).toBe(true);
  expect([text.at(0), text.at(-1)]).toEqual(['…', '…']);
  expect(found.map(([from, to]) => text.slice(from, to))).toEqual(['needle']);
  expect(excerpt({ n: 1 }, 'from:ada')).toEqual({ text: '', found: [] });
});
