/**
 * The one way a JSON value is written before it is hashed: RFC 8785. Names in the order of their UTF-16
 * units, no blanks, numbers and strings as `JSON.stringify` writes them. Whoever wants to check a
 * `payload_hash` takes SHA-256 over these bytes in UTF-8.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const fields = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, one]) => `${JSON.stringify(name)}:${canonicalJson(one)}`);
  return `{${fields.join(',')}}`;
}
