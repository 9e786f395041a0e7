/** Who decides each command of runs and queues. */
import { decideAnswer, decideCancel, decideSignal } from './control.ts';
import { decideFork } from './fork.ts';
import { decideQueue } from './queue.ts';
import { decideRecord } from './record.ts';
import { decideRetry } from './retry.ts';
import { decideStart } from './start.ts';
import { decideRenew, decideTake } from './take.ts';

export interface RunDeciders {
  'run.start': typeof decideStart;
  'run.take': typeof decideTake;
  'run.record': typeof decideRecord;
  'run.renew': typeof decideRenew;
  'run.signal': typeof decideSignal;
  'run.cancel': typeof decideCancel;
  'run.retry': typeof decideRetry;
  'run.fork': typeof decideFork;
  'run.answer': typeof decideAnswer;
  'queue.declare': typeof decideQueue;
}

export const RUN_DECIDERS: RunDeciders = {
  'run.start': decideStart,
  'run.take': decideTake,
  'run.record': decideRecord,
  'run.renew': decideRenew,
  'run.signal': decideSignal,
  'run.cancel': decideCancel,
  'run.retry': decideRetry,
  'run.fork': decideFork,
  'run.answer': decideAnswer,
  'queue.declare': decideQueue,
};
