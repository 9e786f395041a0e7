/** Public entry `synod`: the client, for Node and browsers alike. */
export type { ReconnectOptions } from './backoff.ts';
export type { Change, ChangesOptions } from './changes.ts';
export {
  type CallArguments,
  type Client,
  connect,
  createClient,
  type StateListener,
} from './client.ts';
export type { ConnectionState } from './connection.ts';
export { type ClientErrorCode, SynodError, type SynodErrorCode } from './error.ts';
export type { LiveStream } from './live.ts';
export type { CommitMode, Message, MessagesOptions } from './messages.ts';
export type { CallId, CallInput, CallOutput } from './operations.ts';
export type { ClientOptions } from './options.ts';
export type { KeepPresenceOptions, Presence } from './presence.ts';
export type { ReceiptChange, ReceiptsOptions } from './receipts.ts';
export type { CallOptions } from './requests.ts';
export type { OpenSocket, Socket, SocketClosed } from './socket.ts';
export type { TurnOutput, TurnOutputOptions } from './turn-output.ts';
