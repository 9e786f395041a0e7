/** How a message is named: by its place in the log, and nothing else is an id [M2]. */

/** Facts about a stored message that never change; the hub reads them from the log for a command. */
export interface MessageRef {
  readonly position: number;
  readonly channel: string;
  readonly seq: number;
  readonly sender: string;
}

export function messageId(position: number): string {
  return `m${position}`;
}

export function parseMessageId(id: string): number | null {
  return /^m(0|[1-9]\d{0,15})$/.test(id) ? Number(id.slice(1)) : null;
}
