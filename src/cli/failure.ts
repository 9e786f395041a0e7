/**
 * How a command fails: a code, one sentence, what to do, an exit code.
 *
 * A refusal of the hub keeps its own code and leaves by the exit code of the error table;
 * failures on this side of the wire have their rows here. No stack trace is ever printed: in a
 * terminal it helps nobody, and it shows paths.
 */
import { SynodError } from '../client/error.ts';
import { type ErrorEnvelope, REFUSALS } from '../wire/errors.ts';
import { inCommandWords } from './command-words.ts';
import { jsonText, neutralise } from './terminal.ts';

/** Exit codes of what fails without a refusal; those of sysexits.h where one fits. */
export const EXITS = {
  'bus.address': 2,
  'bus.address-taken': 71,
  'bus.address-unusable': 71,
  'bus.config': 78,
  'bus.no-token': 78,
  'bus.not-started': 70,
  'bus.open-not-loopback': 78,
  'bus.state': 70,
  'cluster.foreign': 78,
  'cluster.lost': 78,
  'cluster.name-spent': 78,
  'cluster.name-used': 78,
  'cluster.nameless': 78,
  'cluster.not-member': 78,
  'cluster.registry-full': 78,
  'cluster.revoked': 78,
  'cluster.token-expired': 65,
  'cluster.token-foreign': 65,
  'cluster.token-invalid': 65,
  'cluster.token-name': 65,
  'cluster.token-revoked': 65,
  'cluster.token-used': 65,
  'cli.usage': 2,
  'cli.no-input': 66,
  'cli.no-terminal': 66,
  'config.faults-off': 78,
  'config.invalid': 78,
  'config.open-not-loopback': 78,
  'hub.foreign': 76,
  'hub.not-started': 70,
  'hub.not-stopped': 75,
  'hub.port-taken': 71,
  'hub.address-unusable': 71,
  'hub.unreachable': 69,
  'lock.lost': 75,
  'log.broken': 1,
  'log.closed': 70,
  'log.corrupt': 65,
  'log.diverged': 65,
  'log.durability': 78,
  'log.locked': 75,
  'log.newer': 65,
  'log.position': 65,
  'log.removed': 66,
  'log.shape': 65,
  'log.snapshot': 65,
  'log.anchor-bad': 65,
  'log.anchor-key': 65,
  'log.anchor-not-put': 74,
  'log.anchor-other': 65,
  'log.key': 78,
  'log.unavailable': 74,
  'log.unknown': 74,
  'service.changed': 73,
  'service.failed': 70,
  'service.hub-runs': 75,
  'service.unsupported': 69,
  'team.invalid': 65,
} as const;

export type FailureCode = keyof typeof EXITS;

const INTERNAL_EXIT = 70;
const PLUGIN_EXIT = 78;
/** Of commands that only say whether something is well: 0 it is, this it is not. */
export const TROUBLE_EXIT = 1;

/** What to do about a refusal, where the hub cannot know how it was asked. */
const HINTS: Readonly<Record<string, string>> = {
  'access.unknown':
    'show a credential with --token or SYNOD_TOKEN; on the machine of the hub: synod token create AGENT',
  'subscription.not-found': 'subscribe first: synod subscribe CHANNEL',
  'gate.not-found': 'see what there is with: synod gates list --state all',
  'gate.reason-needed': 'say it with --reason TEXT',
  'gate.unproved':
    'type the passphrase at a terminal: synod gates approve GATE; the first time: synod person add NAME',
  'operation.unknown': 'list them with: synod ops',
  'channel.not-found': 'see what there is with: synod channels',
  'mark.not-author': 'a person marks it with --person',
  'mark.note-needed': 'say it with --note TEXT',
  'post.invalid': 'see what its posts must be with: synod channels describe CHANNEL',
  'reply.elsewhere': 'link to it with --quote',
  'thread.closed': 'open it again with your reply: --reopen; read it with: synod thread MESSAGE',
  'claim.cycle': 'let go of something first: synod release TASK',
  'claim.recipient-absent': 'see who is here with: synod who',
  'recipient.unknown': 'see who is here with: synod who',
  'task.not-found': 'see the plan with: synod board',
};

export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: string;
  readonly exit: number;
  readonly hint: string | null;
  readonly envelope: Readonly<Record<string, unknown>>;

  constructor(
    envelope: Readonly<Record<string, unknown>> & { readonly message: string },
    place: { readonly code: string; readonly exit: number; readonly hint: string | null },
    cause?: unknown,
  ) {
    super(envelope.message, { cause });
    this.code = place.code;
    this.exit = place.exit;
    this.hint = place.hint;
    this.envelope = envelope;
  }
}

export function fail(
  code: FailureCode,
  message: string,
  options: { readonly hint?: string; readonly cause?: unknown; readonly detail?: object } = {},
): CliError {
  const { hint = null, cause, detail } = options;
  const envelope = {
    error_code: code,
    message,
    ...((hint !== null || detail !== undefined) && {
      detail: { ...detail, ...(hint !== null && { hint }) },
    }),
  };
  return new CliError(envelope, { code, exit: EXITS[code], hint }, cause);
}

/** What is wrong on this machine, by a code of its own. */
export function trouble(code: string, message: string, hint: string | null): CliError {
  const envelope = { error_code: code, message, detail: { hint } };
  return new CliError(envelope, { code, exit: TROUBLE_EXIT, hint });
}

/** A refusal as the hub sent it. */
export function refused(envelope: ErrorEnvelope, cause?: unknown): CliError {
  const reason = String(envelope.detail?.reason ?? envelope.error_code);
  const row = REFUSALS[reason as keyof typeof REFUSALS] ?? byName(envelope.error_code);
  const place = { code: reason, exit: row?.exit ?? 1, hint: HINTS[reason] ?? null };
  return new CliError({ ...envelope }, place, cause);
}

function byName(soxCode: string): { readonly exit: number } | undefined {
  return Object.values(REFUSALS).find(({ sox }) => sox === soxCode);
}

/** Whatever was thrown, as a failure of the command. */
export function toFailure(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof SynodError) return ofClient(error);
  const { code, message, record, envelope, exit } = error as {
    code?: unknown;
    message?: unknown;
    record?: unknown;
    envelope?: ErrorEnvelope;
    exit?: number;
  };
  const text = typeof message === 'string' ? message : String(error);
  if (typeof code === 'string' && envelope !== undefined && exit !== undefined) {
    const { hint } = (envelope.detail ?? {}) as { hint?: string };
    return new CliError({ ...envelope }, { code, exit, hint: hint ?? null }, error);
  }
  if (typeof code === 'string' && typeof record === 'object' && record !== null) {
    // The plugin contract wants its record as it is, with the sentence beside it.
    const { remediation = null } = record as { remediation?: string };
    return new CliError(
      { ...record, message: text },
      { code, exit: PLUGIN_EXIT, hint: remediation },
      error,
    );
  }
  if (isFailureCode(code)) {
    const bare = text.startsWith(`${code}: `) ? text.slice(code.length + 2) : text;
    return fail(code, bare, { cause: error });
  }
  const internal = { error_code: 'internal_error', message: text };
  return new CliError(internal, { code: 'internal', exit: INTERNAL_EXIT, hint: null }, error);
}

/** What the client says, in the words and exit codes of the command line. */
function ofClient(error: SynodError): CliError {
  const { code, message, soxCode, retryAt } = error;
  const { hint, ...detail } = error.detail as { hint?: string };
  const isLost = /^(connection|request)\./.test(code);
  if (soxCode === null && (isLost || isFailureCode(code))) {
    return fail(isLost ? 'hub.unreachable' : (code as FailureCode), message, {
      ...(hint !== undefined && { hint }),
      ...(Object.keys(detail).length > 0 && { detail }),
      cause: error,
    });
  }
  // The client, too, refuses in the hub's codes.
  const said = code === soxCode ? error.detail : { ...error.detail, reason: code };
  return refused(
    {
      error_code: soxCode ?? 'internal_error',
      message,
      ...(Object.keys(said).length > 0 && { detail: said }),
      ...(retryAt !== null && { retry_after: retryAt / 1000 }),
    },
    error,
  );
}

function isFailureCode(code: unknown): code is FailureCode {
  return typeof code === 'string' && code in EXITS;
}

/** The lines for stderr. */
export function failureText(failure: CliError, isJson: boolean): string {
  if (isJson) return `${jsonText(failure.envelope)}\n`;
  const { code, hint, envelope } = failure;
  const message = inCommandWords(failure.message);
  const lines = [message.startsWith(`${code}: `) ? message : `${code}: ${message}`];
  if (hint !== null) lines.push(...hint.split('\n').map((line) => `  ${line}`));
  const violations = violationsOf(envelope);
  // One alone is in the message already.
  if (violations.length > 1)
    lines.push(...violations.map(({ field, issue }) => `  ${field}: ${issue}`));
  if ('plugin_id' in envelope) lines.push(jsonText(envelope));
  return `${lines.map((line) => neutralise(line)).join('\n')}\n`;
}

function violationsOf(
  envelope: Readonly<Record<string, unknown>>,
): { field: string; issue: string }[] {
  const { violations } = (envelope.detail ?? {}) as { violations?: unknown };
  return Array.isArray(violations) ? violations : [];
}
