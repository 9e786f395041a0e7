/**
 * The thread of the runner `rule`: it is asked with rules and texts, and answers with the first match.
 * Its first word, when it can be asked, is null.
 */
import { parentPort } from 'node:worker_threads';
import { answerByRule, parsePattern } from '../../bus/programs/rule.ts';

export interface RuleQuestion {
  readonly rules: readonly {
    readonly pattern: string;
    readonly flags?: string | undefined;
    readonly answer: string;
  }[];
  readonly otherwise: string | null;
  readonly texts: readonly string[];
}

/** For each text the answer and the number of the rule; -1 is `otherwise`. */
export type RuleAnswers = readonly ({ readonly text: string; readonly rule: number } | null)[];

parentPort?.on('message', ({ rules, otherwise, texts }: RuleQuestion) => {
  const parsed = rules.map(({ pattern, flags = '', answer }) => ({
    pattern: parsePattern(pattern, flags, 'rules'),
    answer,
  }));
  const answers: RuleAnswers = texts.map((text) => {
    for (const [rule, one] of parsed.entries()) {
      const found = answerByRule({ rules: [one], otherwise: null }, text);
      if (found !== null) return { text: found, rule };
    }
    return otherwise === null ? null : { text: otherwise, rule: -1 };
  });
  parentPort?.postMessage(answers);
});
parentPort?.postMessage(null);
