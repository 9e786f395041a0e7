/**
 * The page's half of its session. The link leads to `/#syw_…`; from there it goes into what the browser
 * keeps for this very origin, port included, and out of the address. With the cookie, which no script
 * sees, it is the session; either alone opens nothing [WD3].
 */
const KEPT_AS = 'synod.page';
const PAGE_TOKEN = /^#(syw_[\w-]+)$/;

/** What to connect with, `connect({ url: location.origin, token })`; null: nobody came by a link yet. */
export function takePageToken(): string | null {
  const brought = PAGE_TOKEN.exec(location.hash)?.[1];
  if (brought === undefined) return localStorage.getItem(KEPT_AS);
  localStorage.setItem(KEPT_AS, brought);
  history.replaceState(null, '', location.pathname);
  return brought;
}
