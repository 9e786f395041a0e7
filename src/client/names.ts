/**
 * How channels are called where people look, and the one name two agents share. A private channel shows
 * the other party; the order of the list is: open channels, groups, private ones, the hub's own.
 */

/** Who the hub is when it speaks itself. */
export const HUB = '__server__';

/** `@bob` for a private channel with bob. */
export function channelLabel(name: string, me: string): string {
  if (!name.startsWith('dm/')) return name;
  const parties = name.slice('dm/'.length).split('~');
  return `@${parties.find((one) => one !== me) ?? me}`;
}

export function senderLabel(name: string): string {
  return name === HUB ? 'the hub' : name;
}

/** Names in the order of their UTF-8 bytes, as the hub has it. */
export function privateChannel(me: string, other: string): string {
  return isInOrder(me, other) ? `dm/${me}~${other}` : `dm/${other}~${me}`;
}

function isInOrder(one: string, other: string): boolean {
  const [a, b] = [one, other].map((name) => new TextEncoder().encode(name)) as [
    Uint8Array,
    Uint8Array,
  ];
  const at = a.findIndex((byte, i) => byte !== b[i]);
  return at < 0 || (a[at] as number) < (b[at] ?? -1);
}

export function compareChannels(a: string, b: string): number {
  return rankOf(a) - rankOf(b) || (a < b ? -1 : a > b ? 1 : 0);
}

function rankOf(name: string): number {
  if (name.startsWith('sox/')) return 3;
  if (name.startsWith('dm/')) return 2;
  return name.startsWith('group/') ? 1 : 0;
}
