/** Times for a person: the local time of day, the day, and how long ago or how long yet. */

export function timeText(seconds: number): string {
  const at = new Date(seconds * 1000);
  if (Number.isNaN(at.getTime())) return '??:??';
  return `${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** `2026-11-15`, in local time. */
export function dayText(seconds: number): string {
  const at = new Date(seconds * 1000);
  if (Number.isNaN(at.getTime())) return '?';
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** `12s`, `5m`, `3h`, `2d`. */
export function spanText(seconds: number): string {
  const left = Math.max(0, Math.floor(seconds));
  if (left < 60) return `${left}s`;
  if (left < 3_600) return `${Math.floor(left / 60)}m`;
  if (left < 86_400) return `${Math.floor(left / 3_600)}h`;
  return `${Math.floor(left / 86_400)}d`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
