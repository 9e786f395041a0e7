/**
 * `synod turns follow [TURN]`: what a turn says as it says it, until it has ended; without a turn, what
 * all of them say, until Ctrl-C. What was said before is shown first, as far as the hub still has it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { answerOfAll, callHub, reach } from '../client/node/call.ts';
import { readEvents } from '../client/node/event-stream.ts';
import type { Target } from '../client/node/target.ts';
import type { CallOutput } from '../client/operations.ts';
import { readJson } from '../core/law/json.ts';
import { type Context, handle } from './context.ts';
import { clockTime } from './message-text.ts';
import { jsonText, neutralise } from './terminal.ts';
import { billText, reasonText, stateText } from './turn-text.ts';

type Line = CallOutput<'turns.get'>['output'][number];

interface Said {
  readonly turn_id: string;
  readonly agent_id: string;
  readonly lines: readonly Line[];
}

/** How often it is asked whether the turn has ended. */
const LOOK_MS = 500;

export function registerFollow(turns: Command): void {
  const follow = turns
    .command('follow')
    .description('what a turn says as it says it, until it has ended')
    .argument('[turn]', 'left out: all turns, until Ctrl-C')
    .option('--agent <name>', 'only turns of this agent');
  handle<{ agent?: string }>(follow, async (context) => {
    const [id] = context.args;
    const stop = new AbortController();
    const show = createShow(context);
    const watched = id === undefined ? null : watchTurn(context, id, show, stop);
    try {
      for await (const said of outputs(context.target(), stop.signal)) {
        if (id !== undefined && said.turn_id !== id) continue;
        if (context.flags.agent !== undefined && said.agent_id !== context.flags.agent) continue;
        show(said);
      }
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    }
    await watched;
  });
}

/** Each line once, whether it came by the stream or was there before. */
function createShow({ isJson, print, colours }: Context<object>): (said: Said) => void {
  const shown = new Map<string, number>();
  return ({ turn_id: turn, agent_id: agent, lines }) => {
    for (const line of lines) {
      if (line.at <= (shown.get(turn) ?? 0)) continue;
      if (isJson) print(jsonText({ turn_id: turn, agent_id: agent, ...line }));
      else {
        const head = `${clockTime(line.at)} ${turn} ${neutralise(agent)}`;
        const mark = line.from === 'out' ? '' : ` ${line.from}`;
        print(`${colours.dim(head)}${mark}: ${neutralise(line.text)}`);
      }
    }
    shown.set(turn, Math.max(shown.get(turn) ?? 0, ...lines.map(({ at }) => at)));
  };
}

async function watchTurn(
  { target, remark }: Context<object>,
  turn_id: string,
  show: (said: Said) => void,
  stop: AbortController,
): Promise<void> {
  try {
    for (;;) {
      const turn = await callHub(target(), 'turns.get', { turn_id });
      show({ turn_id, agent_id: turn.agent_id, lines: turn.output });
      if (turn.ended_at !== null) {
        remark(`${turn_id} ${reasonText(turn)}: ${stateText(turn)}; ${billText(turn.cost)}`);
        return;
      }
      await pause(LOOK_MS);
    }
  } finally {
    stop.abort();
  }
}

async function* outputs(target: Target, signal: AbortSignal): AsyncGenerator<Said> {
  const response = await reach(target, {
    method: 'GET',
    path: '/v1/stream?from=now&turns=1',
    headers: { accept: 'text/event-stream', 'x-synod-owner': '1' },
    signal,
  });
  if (response.statusCode !== 200) await answerOfAll(target, response);
  try {
    for await (const { event, data } of readEvents(response)) {
      if (event === 'turn.output') yield readJson(data) as Said;
    }
  } finally {
    response.destroy();
  }
}
