/** Why a bus cannot be reached where it was asked to be: a code, and a sentence with what to do. */

export type ListenCode =
  /** The address cannot be understood. */
  | 'bus.address'
  /** Somebody else is there. */
  | 'bus.address-taken'
  /** The operating system does not let us. */
  | 'bus.address-unusable'
  /** Reachable from elsewhere, and nobody would be asked who they are. */
  | 'bus.open-not-loopback';

export class ListenError extends Error {
  override readonly name = 'ListenError';
  readonly code: ListenCode;

  constructor(code: ListenCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
