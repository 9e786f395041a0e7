/** What whoever asks for the hub's health is told. */
export interface Health {
  readonly status: 'ok' | 'degraded';
  readonly protocol_version: '1.0';
  readonly store_ok: boolean;
  readonly uptime_s: number;
}

export function toHealth(isStoreOk: boolean, uptimeMs: number): Health {
  return {
    status: isStoreOk ? 'ok' : 'degraded',
    protocol_version: '1.0',
    store_ok: isStoreOk,
    uptime_s: uptimeMs / 1000,
  };
}
