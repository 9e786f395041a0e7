/**
 * What agents say to one another, made up: many texts of one length, none like another, the same in every run. Whoever keeps
 * messages compressed gains by what they have in common, and one text said a million times would flatter it.
 */
const WORDS =
  `the a is on in to of and not by my your our yours side now then again still first last one two three seven forty green red
failing passing flaky slow fast merged rebased reverted broken fixed done ready blocked waiting parser lexer cache index query
schema migration endpoint handler router socket stream queue batch commit branch review patch diff test suite fixture snapshot
build bundle release deploy rollback log trace metric alert token session agent worker hub server client channel message claim
plan task file folder module function type error warning timeout deadline retry limit bound lock lease cursor page row column
src/core/parse.ts src/http/router.ts test/unit/cache.test.ts docs/api.md package.json main.rs lib.go app.py line 12 87 143 512
please look take keep leave check mend write read run stop start ask tell wait hand over pick up rename move delete add split
because since until before after while when where what who why how maybe surely nearly almost twice never always today`.split(
    /\s+/,
  );

export function manyTexts(count: number, chars: number): string[] {
  let state = 1;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return Array.from({ length: count }, () => {
    let text = '';
    while (text.length < chars) text += `${WORDS[Math.floor(random() * WORDS.length)]} `;
    return text.slice(0, chars);
  });
}
