/**
 * Reads pages of a board, one in flight, from places all over it. The tasks are declared once
 * for each server: a third depends on another, and some are in progress.
 */
import { type Percentiles, percentiles } from '../percentiles.ts';
import { type Cost, createMeter } from '../process.ts';
import { encodeMasked, openLoadSocket } from './socket.ts';

export interface BoardJob {
  readonly kind: 'board';
  readonly url: string;
  readonly pid: number;
  /** Tasks on the plan. */
  readonly tasks: number;
  readonly isFilled: boolean;
  readonly reads: number;
}

export interface BoardResult extends Percentiles, Cost {}

const WINDOW = 200;
const PAGE = 50;

export async function board(job: BoardJob): Promise<BoardResult> {
  const socket = await openLoadSocket(job.url, 'planner');
  const idOf = (n: number): string => `task-${String(n).padStart(6, '0')}`;
  for (let from = 0; !job.isFilled && from < job.tasks; from += WINDOW) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const count = Math.min(WINDOW, job.tasks - from);
    const goal = socket.received + count;
    socket.onFrames = () => socket.received >= goal && resolve();
    const frames = Array.from({ length: count }, (_, i) => {
      const n = from + i;
      const depends_on = n % 3 === 2 ? [idOf(n - 1)] : [];
      const params = { task_id: idOf(n), title: `what is to be done as number ${n}`, depends_on };
      return encodeMasked(
        JSON.stringify({ jsonrpc: '2.0', id: n + 1, method: 'plan.declare', params }),
      );
    });
    socket.write(Buffer.concat(frames));
    await promise;
  }
  const times: number[] = [];
  const meter = createMeter(job.pid);
  const rows = Math.min(PAGE, job.tasks);
  for (let n = 0; n < job.reads; n++) {
    const at = Math.floor(((n * 7919) % job.reads) * ((job.tasks - rows) / job.reads));
    const after = at === 0 ? {} : { after: idOf(at - 1) };
    const from = performance.now();
    const page = (await socket.call('plan.board', { limit: rows, ...after })) as {
      tasks?: unknown[];
    };
    times.push(performance.now() - from);
    if (page.tasks?.length !== rows)
      throw new Error(`a page has ${page.tasks?.length} rows, not ${rows}`);
  }
  const cost = meter.costOf(job.reads);
  socket.close();
  return { ...percentiles(times), ...cost };
}
