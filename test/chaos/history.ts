/**
 * What clients did and were told: the history of a run. Each act has when it was asked and when it was answered,
 * and how: done, not done, or nobody knows. It is plain data, so that one that was kept can be checked again.
 */

export type Outcome =
  | 'ok'
  /** Told that it was not done. */
  | 'fail'
  /** Not answered, or told that nobody knows. */
  | 'unknown';

export interface Told {
  readonly text: string;
  readonly seq: number;
}

export type Act =
  | { readonly op: 'send'; readonly channel: string; readonly text: string; readonly seq?: number }
  | {
      readonly op: 'recv';
      readonly channel: string;
      readonly got: readonly Told[];
      /** So many at most are taken, also when the answer is lost. */
      readonly max: number;
      /** What is not acknowledged comes again. */
      readonly isLeased?: boolean;
    }
  /** As a live feed shows it: in order, each once. */
  | { readonly op: 'feed'; readonly channel: string; readonly got: readonly Told[] }
  | { readonly op: 'take'; readonly key: string; readonly epoch?: number }
  | { readonly op: 'release'; readonly key: string }
  /** Who has it, as somebody else is told. */
  | { readonly op: 'holder'; readonly key: string; readonly owner: string | null }
  | {
      readonly op: 'set';
      readonly key: string;
      readonly to: string;
      /** Only if this is there; null: if nothing is; absent: whatever is. */
      readonly from?: string | null;
      readonly version?: number;
    }
  | {
      readonly op: 'get';
      readonly key: string;
      readonly value: string | null;
      readonly version?: number;
    }
  /** A turn is handed out, with the messages of the channel that it is about. */
  | {
      readonly op: 'begin';
      readonly agent: string;
      readonly channel: string;
      /** So many messages at most, also when the answer is lost. */
      readonly max: number;
      /** Absent where the answer was lost. */
      readonly turn?: string;
      readonly epoch?: number;
      readonly given?: readonly string[];
    }
  | { readonly op: 'finish'; readonly agent: string; readonly turn: string; readonly epoch: number }
  /** Of a gate, by its id. */
  | { readonly op: 'decide'; readonly key: string; readonly answer: 'approve' | 'deny' }
  | { readonly op: 'consume'; readonly key: string }
  | { readonly op: 'gate'; readonly key: string; readonly state: string }
  /** A run of a workflow, handed out, and what its executor says of a step. */
  | { readonly op: 'start'; readonly run: string }
  | { readonly op: 'hold'; readonly run: string; readonly epoch: number }
  | ({ readonly op: 'step'; readonly run: string; readonly epoch: number } & RunStep)
  /** As one server tells it when all is over. */
  | {
      readonly op: 'journal';
      readonly run: string;
      readonly state: string;
      readonly steps: readonly RunStep[];
    };

/** Values are never said twice, so that one tells who said it. */
interface RunStep {
  readonly step: string;
  readonly value: string;
}

/** Of every run, in this order; with the last it is over. */
export const RUN_STEPS: readonly string[] = ['fetch', 'build', 'ship'];

export interface Done<A extends Act = Act> {
  readonly id: number;
  readonly by: string;
  /** The server that answered, or was asked last. */
  readonly at: string;
  readonly act: A;
  readonly outcome: Outcome;
  /** Seconds of the run. */
  readonly from: number;
  /** Null: never answered. */
  readonly to: number | null;
  /** The process that answered: what one tells never goes back. */
  readonly copy?: string;
}

/** A channel as one server tells it when all is over. */
export interface Reading {
  readonly server: string;
  readonly channel: string;
  readonly messages: readonly Told[];
}

export interface Happening {
  readonly at: number;
  readonly what: string;
}

export interface History {
  readonly seed: number;
  /** What was done to servers, nodes and lines. */
  readonly faults?: readonly Happening[];
  readonly done: readonly Done[];
  readonly readings: readonly Reading[];
}

export type ActOf<Op extends Act['op']> = Extract<Act, { readonly op: Op }>;

export function isOf<Op extends Act['op']>(
  done: Done,
  ...ops: readonly Op[]
): done is Done<ActOf<Op>> {
  return (ops as readonly string[]).includes(done.act.op);
}

/** As sentences name it: who, what, where, when, and what it was told. */
export function describe({ by, at, act, outcome, from, to }: Done): string {
  const when = to === null ? `${from.toFixed(3)} s on` : `${from.toFixed(3)}–${to.toFixed(3)} s`;
  return `${wordsOf(act)} by ${by} at ${at} (${when}, ${toldOf(act, outcome)})`;
}

function wordsOf(act: Act): string {
  switch (act.op) {
    case 'send':
      return `send "${act.text}" to ${act.channel}`;
    case 'recv':
    case 'feed':
      return `${act.op} of ${act.channel}`;
    case 'take':
    case 'release':
      return `${act.op} ${act.key}`;
    case 'set': {
      const { from, key, to } = act;
      if (from === undefined) return `set ${key} to ${to}`;
      return `set ${key} from ${from ?? 'nothing'} to ${to}`;
    }
    case 'begin':
      return act.turn === undefined
        ? `begin a turn of ${act.agent}`
        : `begin ${act.turn} of ${act.agent} (epoch ${act.epoch})`;
    case 'finish':
      return `finish ${act.turn} of ${act.agent} (epoch ${act.epoch})`;
    case 'decide':
      return `${act.answer} ${act.key}`;
    case 'start':
    case 'journal':
      return `${act.op} of ${act.run}`;
    case 'hold':
      return `hold ${act.run} (epoch ${act.epoch})`;
    case 'step':
      return `${act.step} of ${act.run} (epoch ${act.epoch})`;
    case 'get':
    case 'holder':
    case 'consume':
    case 'gate':
      return `${act.op} ${act.key}`;
  }
}

function toldOf(act: Act, outcome: Outcome): string {
  if (outcome === 'fail') return 'refused';
  if (outcome === 'unknown') return 'unknown';
  if (act.op === 'send') return `acknowledged as ${act.seq}`;
  if (act.op === 'holder') return `told ${act.owner ?? 'nobody'}`;
  if (act.op === 'get') return `told ${act.value ?? 'nothing'}`;
  if (act.op === 'gate' || act.op === 'journal') return `told ${act.state}`;
  if (act.op === 'begin') return `given ${act.given?.length ?? 0}`;
  if (act.op === 'recv' || act.op === 'feed') return `got ${act.got.length}`;
  return 'acknowledged';
}
