/**
 * Why a hub with plugins did not start: a closed set of codes, each with a structured record.
 *
 * A version mismatch carries the contract's five fields verbatim; the other codes carry the same
 * shape without the two version fields.
 */

export type StartupErrorCode =
  | 'plugin_not_allowed'
  | 'plugin_not_found'
  | 'plugin_manifest_invalid'
  | 'plugin_protocol_version_mismatch'
  | 'plugin_capability_conflict'
  | 'plugin_ordering_cycle'
  | 'plugin_requirement_unmet'
  | 'plugin_startup_failed';

export interface StartupRecord {
  readonly error_code: StartupErrorCode;
  /** The plugin at fault; null when the fault is not one plugin's. */
  readonly plugin_id: string | null;
  readonly plugin_declares?: string;
  readonly host_supports?: string;
  readonly remediation: string;
}

export class PluginStartupError extends Error {
  override readonly name = 'PluginStartupError';
  readonly code: StartupErrorCode;
  readonly record: StartupRecord;

  constructor(record: StartupRecord, what: string, options?: { cause: unknown }) {
    super(`${record.error_code}: ${what}`, options);
    this.code = record.error_code;
    this.record = record;
  }
}
