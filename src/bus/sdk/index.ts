/** Public entry `synod/sdk`: a bus of workers to talk to, wherever it runs. */
export type { JsonObject } from '../process/json-object.ts';
export type { Backend, BackendEvents, BackendLook, LogLevel } from './backend.ts';
export { StdioBusBuilder } from './builder.ts';
export {
  CancelledError,
  ErrorCode,
  type ErrorCodeName,
  type ErrorFacts,
  InternalError,
  InvalidArgumentError,
  InvalidStateError,
  NegotiationFailedError,
  NotSupportedError,
  PolicyDeniedError,
  ResourceExhaustedError,
  StdioBusError,
  TimeoutError,
  TransportError,
  UnavailableError,
} from './errors.ts';
export type { FunctionContext, FunctionRequest, WorkerFunction } from './function-worker.ts';
export type { ExtensionState, ExtensionWish, HelloParams, HelloResult } from './hello.ts';
export type { RequestHandler, WorkerRequest } from './incoming.ts';
export type { AuditEvent, BusNotification, CallerIdentity, Params } from './message.ts';
export type { NotificationSubscription, NotificationsOptions } from './notifications.ts';
export type {
  BusConfigOptions,
  DockerOptions,
  EmbeddedOptions,
  KnownClientOptions,
  LimitOptions,
  PolicyRuleOptions,
  PoolOptions,
  ReconnectOptions,
  SocketOptions,
  StdioBusOptions,
  SubprocessOptions,
} from './options.ts';
export type { NotifyOptions, RequestOptions } from './request-options.ts';
export type { Attached, BusSession } from './session.ts';
export type { SessionMode } from './session-book.ts';
export {
  BackendMode,
  type BackendType,
  BUS_STATE_NAMES,
  BusState,
  type BusStateName,
  type Dialect,
  ListenMode,
  OverflowPolicy,
  type StdioBusCounts,
  type StdioBusStats,
  UNKNOWN_COUNT,
} from './states.ts';
export { type ConnectionEvent, StdioBus } from './stdio-bus.ts';
export type { BusStream, StreamEvent } from './stream.ts';
