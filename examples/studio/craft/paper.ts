/** What analyst, designer, architect and product manager put on paper. */
import type { Craft } from './craft.ts';
import { moduleOf, parseBrief, put, readFacts, writeFacts } from './facts.ts';

const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}\n`).join('');

export const intake: Craft = async ({ dir, asked }) => {
  const facts = parseBrief(String(asked.brief ?? ''));
  if (facts.conversions.length === 0) {
    return {
      ok: false,
      text: 'not yet: the brief names nothing to convert, such as "- 1 inch = 2.54 centimetre"',
    };
  }
  const known = facts.conversions.map(({ from, to, factor }) => `1 ${from} is ${factor} ${to}`);
  const page = `# Intake: ${facts.name}\n\n${facts.purpose}\n\n${list(known)}`;
  const files = [await writeFacts(dir, facts), await put(dir, 'docs/intake.md', page)];
  return { text: `${facts.name}: ${known.length} conversions, ${facts.users.length} users`, files };
};

export const personas: Craft = async ({ dir }) => {
  const { users, name } = await readFacts(dir);
  const pages = users.map((user) => {
    const [who = user, why = 'who wants an answer and nothing else'] = user.split(', ');
    return `## ${who}\n\n${why}. One command, one line of answer, no menu.\n`;
  });
  const page = `# Who uses ${name}\n\n${pages.join('\n')}`;
  return { text: `${users.length} personas`, files: [await put(dir, 'docs/personas.md', page)] };
};

export const architecture: Craft = async ({ dir }) => {
  const { conversions, name } = await readFacts(dir);
  const modules = conversions.map(
    (one) => `\`${moduleOf(one)}\`: ${one.from} to ${one.to} and back`,
  );
  const rest = ['`src/index.js`: all of them by name', '`bin/convert.js`: the command'];
  const page = `# ${name}, how it is built\n\nOne module for each conversion; none knows another.\n\n${list([...modules, ...rest])}`;
  return {
    text: `${modules.length + 2} modules`,
    files: [await put(dir, 'docs/architecture.md', page)],
  };
};

export const productPlan: Craft = async ({ dir }) => {
  const { conversions, name } = await readFacts(dir);
  const must = conversions.map(({ from, to }) => `${from} to ${to}, both ways`);
  const page = `# ${name} 1.0\n\nMust:\n\n${list([...must, 'refuse what is no number, with a sentence'])}\nNot in 1.0:\n\n${list(['temperatures', 'a page'])}`;
  return {
    text: `${must.length + 1} things must be in 1.0`,
    files: [await put(dir, 'docs/product-plan.md', page)],
  };
};

export const releaseBrief: Craft = async ({ dir, asked }) => {
  const { name, conversions } = await readFacts(dir);
  const page = `# ${name} 1.0.0\n\n${conversions.length} conversions, both ways. ${String(asked.tests ?? 'No')} tests pass.\n\nTag: ${String(asked.tag ?? 'none')}\n`;
  return {
    text: 'the release brief is written',
    files: [await put(dir, 'docs/release-brief.md', page)],
  };
};

export const feedback: Craft = async ({ dir, asked }) => {
  const rounds = Number(asked.rounds ?? 0);
  const remarks = Array.isArray(asked.remarks) ? asked.remarks.map(String) : [];
  const learned = remarks.length === 0 ? ['the first version passed review'] : remarks;
  const page = `# What we learned\n\nReview took ${rounds} rounds.\n\n${list(learned)}`;
  return { text: `${rounds} rounds of review`, files: [await put(dir, 'docs/feedback.md', page)] };
};
