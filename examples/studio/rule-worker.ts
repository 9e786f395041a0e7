/**
 * One turn of a role by rules, without a model: the program that the runner `command` starts. It reads what
 * the turn was given, does what the message says under `do`, and answers with what came of it.
 */
import { text } from 'node:stream/consumers';
import { backlog } from './craft/backlog.ts';
import { build, fix } from './craft/build.ts';
import type { Answer, Craft, Job } from './craft/craft.ts';
import {
  architecture,
  feedback,
  intake,
  personas,
  productPlan,
  releaseBrief,
} from './craft/paper.ts';
import { commandTests, review, unitTests } from './craft/proof.ts';
import { release } from './craft/release.ts';

const CRAFTS: Readonly<Record<string, Craft>> = {
  ...{ intake, personas, architecture, 'product-plan': productPlan, backlog, build, fix, review },
  ...{ 'unit-tests': unitTests, 'command-tests': commandTests, release },
  ...{ 'release-brief': releaseBrief, feedback },
};

const { messages, hub } = JSON.parse(await text(process.stdin));

const ask: Job['hub'] = async (operation, input) => {
  const answer = await fetch(`${hub.url}/v1/ops/${operation}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${hub.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
  });
  const body = (await answer.json()) as Record<string, unknown>;
  if (!answer.ok) throw new Error(`${operation}: ${String(body.message)}`);
  return body;
};

async function answerTo(asked: Job['asked']): Promise<Answer> {
  const craft = CRAFTS[String(asked.do)];
  if (craft === undefined)
    return { ok: false, text: `not yet: nobody here can ${String(asked.do)}` };
  return craft({ dir: process.cwd(), asked, hub: ask });
}

const replies: object[] = [];
for (const { message_id, body } of messages) {
  replies.push({ reply_to: message_id, body: { ok: true, ...(await answerTo(body)) } });
}
process.stdout.write(`${JSON.stringify({ outcome: 'done', replies })}\n`);
