/**
 * A row of tokens, some of which are stars, against a row of items. Only the last star
 * is ever retried, so it takes at most the product of the two lengths.
 */
export function matchStars<Token, Item>(
  tokens: readonly Token[],
  items: readonly Item[],
  isStar: (token: Token) => boolean,
  accepts: (token: Token, item: Item) => boolean,
): boolean {
  let t = 0;
  let i = 0;
  let star = -1;
  let resume = 0;
  while (i < items.length) {
    const token = tokens[t];
    if (token !== undefined && isStar(token)) {
      star = t++;
      resume = i;
    } else if (token !== undefined && accepts(token, items[i] as Item)) {
      t++;
      i++;
    } else if (star >= 0) {
      t = star + 1;
      i = ++resume;
    } else {
      return false;
    }
  }
  while (t < tokens.length && isStar(tokens[t] as Token)) t++;
  return t === tokens.length;
}
