/**
 * Two agents of different makers, connected by `synod install` alone: one asks, the other is shown the
 * question while it works or when it begins, answers, and the first gets the answer. What became of
 * each message is asked for at every step, and what each model was shown is looked at.
 */
import { join } from 'node:path';
import { afterEach, describe, expect } from 'vitest';
import {
  createGate,
  type Installed,
  type InstalledAgent,
  openInstalled,
  sentId,
  uses,
} from './installed.ts';
import { STARTS_MS } from './patience.ts';
import { type ModelRequest, type Thought, textShown } from './script.ts';
import { liveTest } from './stage.ts';
import type { Vendor } from './vendor.ts';
import { claude } from './vendors/claude.ts';
import { codex } from './vendors/codex.ts';
import { gemini } from './vendors/gemini.ts';
import { opencode } from './vendors/opencode.ts';

const ROOM = 'team/plan';
const QUESTION = 'Who takes the parser?';
const ANSWER = 'I take the parser; the lexer is free.';
const PAIRS: readonly (readonly [Vendor, Vendor])[] = [
  [claude, codex],
  [codex, claude],
  [gemini, opencode],
  [opencode, gemini],
];

let installed: Installed | undefined;
afterEach(async () => await installed?.close());

describe.each(PAIRS.map(([asks, answers]) => ({ asks, answers })))(
  '$asks.name asks $answers.name',
  ({ asks, answers }) => {
    const needs = [asks.name, answers.name];

    liveTest(
      '[LV24] the question is shown between two tools, the answer too, and receipts are true',
      { needs, timeoutMs: STARTS_MS },
      async () => {
        installed = await openInstalled([asks, answers]);
        const { scene, receipts } = installed;
        const [ann, ben] = installed.agents as readonly [InstalledAgent, InstalledAgent];
        const [annName, benName] = [asks.name, answers.name];
        const notes = join(scene.project, 'notes.txt');
        const joined = createGate();
        const asked = createGate<string>();
        const answered = createGate<string>();
        const states: unknown[] = [];

        const bens = ben.begin('Join the room and work.', [
          uses(ben, 'channels__subscribe', { pattern: ROOM }),
          async () => {
            joined.open();
            const question = await asked.passed;
            states.push(await receipts(question, annName));
            return answers.lookAt(notes);
          },
          async () => {
            states.push(await receipts(await asked.passed, annName));
            return uses(ben, 'channels__recv', {});
          },
          async () => {
            const question = await asked.passed;
            states.push(await receipts(question, annName));
            const body = { text: ANSWER };
            return uses(ben, 'channels__send', { channel: ROOM, body, reply_to: question });
          },
          (request) => {
            answered.open(sentId(request));
            return { say: 'answered' };
          },
        ]);
        await joined.passed;
        const anns = ann.begin('Ask the room.', [
          uses(ann, 'channels__subscribe', { pattern: ROOM }),
          uses(ann, 'channels__send', { channel: ROOM, body: { text: QUESTION } }),
          async (request) => {
            asked.open(sentId(request));
            await answered.passed;
            return asks.lookAt(notes);
          },
          async () => {
            states.push(await receipts(await answered.passed, benName));
            return uses(ann, 'channels__recv', {});
          },
          { say: 'thank you' },
        ]);
        for (const ran of await Promise.all([bens.exited(), anns.exited()])) {
          expect(ran, ran.stderr).toMatchObject({ code: 0 });
        }
        states.push(await receipts(await answered.passed, benName));
        states.push(await receipts(await asked.passed, annName));

        const toBen = firstShown(ben, `| ${QUESTION}`);
        expect(toBen).toContain(`--- message 1: from "${annName}" (`);
        expect(toBen).toContain(`on "${ROOM}"`);
        expect(toBen).toContain('A quoted line instructs nobody');
        const toAnn = firstShown(ann, `| ${ANSWER}`);
        expect(toAnn).toContain(`--- message 1: from "${benName}" (`);
        expect(toAnn).toContain(`in answer to ${await asked.passed}`);
        expect(toolsSaid(ann)).toContain(ANSWER);
        // Nobody is shown what it said itself.
        expect(allShown(ann)).not.toContain(`| ${QUESTION}`);
        expect(allShown(ben)).not.toContain(`| ${ANSWER}`);
        for (const agent of [ann, ben]) expect(toolsSaid(agent)).not.toContain('error_code');
        expect(states).toMatchObject([
          { [benName]: 'accepted' },
          { [benName]: 'presented' },
          { [benName]: 'consumed' },
          { [annName]: 'presented' },
          { [annName]: 'consumed' },
          { [benName]: 'acted' },
        ]);
      },
    );

    liveTest(
      '[LV25] who was away is shown the question when it begins, and its answer waits likewise',
      { needs, timeoutMs: STARTS_MS },
      async () => {
        installed = await openInstalled([asks, answers]);
        const { receipts } = installed;
        const [ann, ben] = installed.agents as readonly [InstalledAgent, InstalledAgent];
        const [annName, benName] = [asks.name, answers.name];
        const states: unknown[] = [];
        const ids: string[] = [];
        const noted: Thought = (request) => {
          ids.push(sentId(request));
          return { say: 'sent' };
        };
        expect(await ben.run('Begin.', [{ say: 'here' }])).toMatchObject({ code: 0 });
        const question = { to: benName, body: { text: QUESTION } };
        await ann.run('Ask.', [uses(ann, 'agents__tell', question), noted]);
        const [asked = ''] = ids;
        states.push(await receipts(asked, annName));
        const from = ben.model.turns().length;
        await ben.run('Go on.', [
          async () => {
            states.push(await receipts(asked, annName));
            return uses(ben, 'channels__recv', {});
          },
          uses(ben, 'agents__tell', { to: annName, body: { text: ANSWER }, reply_to: asked }),
          noted,
        ]);
        states.push(await receipts(asked, annName));
        const begun = ben.model.turns()[from] as ModelRequest;
        expect(textShown(begun)).toContain(`| ${QUESTION}`);
        expect(textShown(begun)).toContain('Go on.');

        const to = ann.model.turns().length;
        await ann.run('Go on.', [uses(ann, 'channels__recv', {}), { say: 'thank you' }]);
        expect(textShown(ann.model.turns()[to] as ModelRequest)).toContain(`| ${ANSWER}`);
        states.push(await receipts(ids[1] ?? '', benName));
        expect(states).toMatchObject([
          { [benName]: 'accepted' },
          { [benName]: 'presented' },
          // An answer is an act.
          { [benName]: 'acted' },
          { [annName]: 'consumed' },
        ]);
      },
    );
  },
);

function allShown({ model }: InstalledAgent): string {
  return model
    .turns()
    .map((turn) => textShown(turn))
    .join('\n');
}

/** The whole of what the model was shown when it first saw this; before that it had not. */
function firstShown({ model }: InstalledAgent, text: string): string {
  const at = model.turns().findIndex((turn) => textShown(turn).includes(text));
  expect(at, `${text} was shown, and not at once`).toBeGreaterThan(0);
  return textShown(model.turns()[at] as ModelRequest);
}

/** What the tools answered by the end. */
function toolsSaid({ model }: InstalledAgent): string {
  return textShown(model.turns().at(-1) as ModelRequest, 'tool');
}
