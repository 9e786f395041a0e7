/**
 * Characters that a reader does not see and a program does: controls, formats, blanks that are no
 * spaces, and whatever Unicode says to ignore. Text of others is shown with them written out, so that
 * nothing is hidden in it [QU2].
 *
 * A joiner or a variation selector stays where it shapes what stands before it: between two emoji,
 * after one, or after a letter of a script that joins. There it is one at a time and carries nothing.
 */

/** Blank although they are letters or symbols; Unicode does not say to ignore these. */
const BLANK = '\\u2800\\u{1d159}\\u{13441}\\u{13442}';
const SHAPED = [
  // After an emoji or a key of the telephone: as text, or as a picture.
  '[\\p{Extended_Pictographic}#*0-9][\\ufe0e\\ufe0f]',
  // Between the parts of one emoji.
  '[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f]\\u200d(?=\\p{Extended_Pictographic})',
  '[\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Devanagari}\\p{Script=Bengali}\\p{Script=Gurmukhi}' +
    '\\p{Script=Gujarati}\\p{Script=Oriya}\\p{Script=Tamil}\\p{Script=Telugu}\\p{Script=Kannada}' +
    '\\p{Script=Malayalam}\\p{Script=Sinhala}\\p{Script=Khmer}\\p{Script=Myanmar}\\p{Script=Mongolian}]' +
    '[\\u200c\\u200d]',
];

/** One hidden character; global, for `replace`. */
export const HIDDEN: RegExp = new RegExp(
  `[\\p{C}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}${BLANK}]${SHAPED.map((one) => `(?<!${one})`).join('')}`,
  'gu',
);

/** As text: what the character is, instead of the character. */
export function written(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}
