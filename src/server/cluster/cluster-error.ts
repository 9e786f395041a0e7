/** Why a server may not take part in a cluster: each reason has a code, and a sentence that says what to do. */

export type ClusterErrorCode =
  /** The cluster has a registry, and this server is not in it. */
  | 'cluster.not-member'
  /** The cluster has a registry, and this server was started without a name. */
  | 'cluster.nameless'
  /** It was taken out. */
  | 'cluster.revoked'
  /** The prefix belongs to another cluster than this data directory. */
  | 'cluster.foreign'
  /** The registry that this data directory knows is gone. */
  | 'cluster.lost'
  /** Another server of that name is running, or has joined under another key. */
  | 'cluster.name-used'
  /** The registry has no room for another record of that name. */
  | 'cluster.name-spent'
  | 'cluster.registry-full'
  | 'cluster.token-invalid'
  | 'cluster.token-foreign'
  | 'cluster.token-used'
  | 'cluster.token-expired'
  | 'cluster.token-revoked'
  /** The token is for a server of another name. */
  | 'cluster.token-name';

export class ClusterError extends Error {
  readonly code: ClusterErrorCode;
  constructor(code: ClusterErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(`${code}: ${message}`, options);
    this.name = 'ClusterError';
    this.code = code;
  }
}
