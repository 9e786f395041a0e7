/** `synod/flow`: what a program is built of that must outlive its processes. */
export {
  type Enforcement,
  type GuardCode,
  type GuardDecision,
  GuardRefused,
  type GuardRequest,
  type PathKind,
} from '../guard/decision.ts';
export type { Recordable } from '../guard/decision-queue.ts';
export type { ConnectOptions, FetchOptions } from '../guard/fetch.ts';
export type { WriteOptions } from '../guard/files.ts';
export { createGuard, type Guard, type GuardOptions } from '../guard/guard.ts';
export type { Lookup } from '../guard/network.ts';
export {
  type ConnectRule,
  type ExecuteRule,
  type Policy,
  PolicyError,
  type Scheme,
} from '../guard/policy.ts';
export type { Rail } from '../guard/rails.ts';
export type { PlanOptions, Spawned, SpawnOptions, SpawnPlan } from '../guard/spawn.ts';
export { type JsonlSinkOptions, jsonlSink } from '../telemetry/jsonl-sink.ts';
export { type OtlpSinkOptions, otlpSink } from '../telemetry/otlp-sink.ts';
export type {
  Attributes,
  AttributeValue,
  Ids,
  Level,
  LogRecord,
  MetricRecord,
  Sink,
  SinkAttributes,
  SpanKind,
  SpanRecord,
  Spread,
  TelemetryRecord,
} from '../telemetry/record.ts';
export type { Redact } from '../telemetry/redact.ts';
export {
  currentTrace,
  type Span,
  type SpanOptions,
  withIds,
  withSpan,
  withTrace,
} from '../telemetry/scope.ts';
export type { QueueTimes, SinkCounts } from '../telemetry/sink-queue.ts';
export {
  createTelemetry,
  type EndedSpan,
  type Telemetry,
  type TelemetryOptions,
} from '../telemetry/telemetry.ts';
export type { NewItem, SessionItem } from '../wire/operations/sessions.ts';
export {
  type Context,
  type ContextChange,
  type ContextFollowOptions,
  type ContextSetOptions,
  type ContextSnapshot,
  type ContextValue,
  createContext,
} from './context/context.ts';
export { type ContextPartOptions, contextPart } from './context/context-part.ts';
export { packPrompt } from './context/pack-prompt.ts';
export {
  PromptError,
  type PromptErrorCode,
  type PromptErrorOptions,
  type WantedTokens,
} from './context/prompt-error.ts';
export type {
  DroppedPart,
  FilePart,
  ItemsPart,
  PackedPrompt,
  PackOptions,
  PromptItem,
  PromptMessage,
  PromptPart,
  PromptRole,
  PromptTrust,
  RedactedSecret,
  TextPart,
  Tokenizer,
  TruncatedPart,
} from './context/prompt-types.ts';
export type {
  Integration,
  IntegrationContext,
  JsonSchema,
} from './integration/definition.ts';
export { type GuardRecorder, openGuardRecorder } from './integration/guard-recorder.ts';
export { type IntegrationCode, IntegrationError } from './integration/integration-error.ts';
export {
  createIntegrations,
  type DryRun,
  type IntegrationInfo,
  type Integrations,
  type IntegrationsOptions,
  type InvokeOptions,
} from './integration/integrations.ts';
export {
  type McpConnection,
  type McpOptions,
  registerMcp,
  type ToolBounds,
} from './integration/mcp.ts';
export type { McpProgram } from './integration/mcp-transport.ts';
export {
  type OpenApiOptions,
  type OpenApiRegistered,
  registerOpenApi,
} from './integration/openapi.ts';
export type { BreakerState } from './integration/turnstile.ts';
export { AcpClient, type AcpClientOptions } from './process/client/acp-client.ts';
export {
  type AgentClient,
  AgentClientError,
  type AgentClientErrorCode,
  type AgentClientEvent,
  type AgentClientOptions,
  type AgentSession,
  type AgentTurn,
  type ApprovalAsk,
  type ProbedProgram,
  type SessionOptions,
} from './process/client/agent-client.ts';
export type {
  AgentItem,
  AgentTurnEnd,
  AgentUsage,
  StepState,
} from './process/client/agent-item.ts';
export { ClaudeClient, type ClaudeClientOptions } from './process/client/claude-client.ts';
export { CodexClient, type CodexClientOptions } from './process/client/codex-client.ts';
export { GeminiClient, OpencodeClient } from './process/client/gemini-client.ts';
export { Supervisor } from './process/supervisor.ts';
export {
  type Backoff,
  type HubCalls,
  type Running,
  SupervisorError,
  type SupervisorErrorCode,
  type SupervisorOptions,
  type SupervisorState,
  type SupervisorStatus,
  type SupervisorUsage,
} from './process/supervisor-options.ts';
export { type AiMessages, aiMessages } from './session/ai-messages.ts';
export { newest, type SessionFilter, withoutTools } from './session/filter.ts';
export { langGraphSaver, type SaverBase } from './session/langgraph-saver.ts';
export { type OpenAiSession, openAiSession } from './session/openai-session.ts';
export {
  type HandoffOptions,
  type OpenSessionOptions,
  openSession,
  type Session,
  type SessionView,
  type ToolRun,
} from './session/session.ts';
export type { Bus } from './workflow/bus-step.ts';
export type { Claim, ClaimOptions } from './workflow/claim-step.ts';
export { workflow } from './workflow/definition.ts';
export {
  DefinitionError,
  type RecordedError,
  RetryLaterError,
  RunCancelledError,
  RunFailedError,
  StepFailedError,
  StepTimeoutError,
} from './workflow/errors.ts';
export type { FlowEvent } from './workflow/flow-events.ts';
export type { Graph, GraphInput, GraphResults } from './workflow/graph.ts';
export {
  type AnyNode,
  type Node,
  type NodeOptions,
  type NodeScope,
  node,
  type ResultOf,
  type ResultsOf,
} from './workflow/node.ts';
export { type Flow, type FlowOptions, openFlow, type StartOptions } from './workflow/open-flow.ts';
export {
  type Landed,
  type LandingInput,
  type LandingOptions,
  landing,
} from './workflow/ready/landing.ts';
export {
  fanOutReview,
  type Reviewed,
  type ReviewInput,
  type ReviewOptions,
  type Vote,
} from './workflow/ready/review.ts';
export {
  type TeamInput,
  type TeamOptions,
  type TeamOutcome,
  team,
} from './workflow/ready/team.ts';
export type { RetryPolicy } from './workflow/retry.ts';
export type { ForkOptions, Run } from './workflow/run-handle.ts';
export type { RunState, RunView, StepView, WaitView } from './workflow/seam.ts';
export type {
  ResultSchema,
  StepCost,
  StepOptions,
  StepScope,
  UncertainPolicy,
  UndoScope,
} from './workflow/step-options.ts';
export { TerminalError } from './workflow/terminal-error.ts';
export { createVirtualTime, type VirtualTime } from './workflow/virtual-time.ts';
export type { GateAsk, Reply, Verdict } from './workflow/waits.ts';
export type {
  AnyWorkflow,
  Workflow,
  WorkflowContext,
  WorkflowOptions,
  WorkflowQueue,
} from './workflow/workflow-types.ts';
