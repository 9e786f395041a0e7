/**
 * Which of several servers should have a space: each gives it a mark made of both names, and the highest counts.
 * Everybody who knows the same servers comes to the same answer without asking, the spaces are spread evenly,
 * and when a server comes or goes only what it gains or had moves [SQ8].
 */

/** The servers in the order in which they should have it. */
export function rankServers(space: string, servers: readonly string[]): string[] {
  return [...servers]
    .map((server) => ({ server, mark: markOf(`${server}\n${space}`) }))
    .sort((a, b) => b.mark - a.mark || (a.server < b.server ? -1 : 1))
    .map(({ server }) => server);
}

/** FNV-1a, and then mixed: names that differ in their last letter alone must not have neighbouring marks. */
function markOf(text: string): number {
  let mark = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) mark = Math.imul(mark ^ text.charCodeAt(i), 0x01000193);
  mark = Math.imul(mark ^ (mark >>> 16), 0x85ebca6b);
  mark = Math.imul(mark ^ (mark >>> 13), 0xc2b2ae35);
  return (mark ^ (mark >>> 16)) >>> 0;
}
