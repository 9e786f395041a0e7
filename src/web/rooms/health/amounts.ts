/** Amounts in few characters: bytes, durations, counts. Pure. */

export function bytesText(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let amount = bytes;
  let unit = 0;
  while (amount >= 1_000 && unit < units.length - 1) {
    amount /= 1_024;
    unit++;
  }
  return `${short(amount)} ${units[unit]}`;
}

export function durationText(ms: number): string {
  if (ms < 1) return `${short(ms * 1_000)} µs`;
  if (ms < 1_000) return `${short(ms)} ms`;
  const s = ms / 1_000;
  if (s < 60) return `${short(s)} s`;
  if (s < 3_600) return `${Math.floor(s / 60)} min`;
  if (s < 86_400) return `${Math.floor(s / 3_600)} h ${Math.floor((s % 3_600) / 60)} min`;
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3_600)} h`;
}

export function countText(count: number): string {
  return count >= 10_000 ? `${short(count / 1_000)} k` : short(count);
}

/** Two digits that matter, no more. */
function short(amount: number): string {
  if (amount >= 100 || Number.isInteger(amount)) return String(Math.round(amount));
  return amount >= 10 ? amount.toFixed(0) : amount.toFixed(1);
}
