import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { INSTRUCTIONS } from '../../wire/mcp/instructions.ts';
import { toolName } from '../../wire/operation.ts';
import { operationList } from '../../wire/operations/table.ts';
import { toolNameFor, VENDORS } from '../../wire/tool-names.ts';
import { DISCIPLINE_DOCUMENT } from './document.ts';
import { HEADINGS } from './lint.ts';
import { renderDiscipline, SKILL_NAME } from './render.ts';

const tools = new Set(operationList.map(toolName));
/** What all of Synod may take of an agent's context before anybody asked for anything. */
const PRIMER_TOKENS_MAX = 700;
/** Fewer characters a token than any tokeniser needs for English: never fewer tokens than there are. */
const CHARS_PER_TOKEN = 3.5;

test('[DI2] every tool is named as the model of that vendor must call it, and exists', () => {
  for (const vendor of VENDORS) {
    const autoSubscribe = { channels: ['ticket:*'] };
    const { skill, primer } = renderDiscipline({ vendor, autoSubscribe });
    for (const text of [skill, primer]) {
      const named = [...text.matchAll(/[\w.-]*[a-z]+__[a-z_]+/g)].map(([name]) => name);
      expect(named.length).toBeGreaterThan(1);
      const prefix = toolNameFor(vendor, '');
      expect(named.filter((name) => !name.startsWith(prefix))).toEqual([]);
      expect(named.filter((name) => !tools.has(name.slice(prefix.length)))).toEqual([]);
    }
    for (const tool of ['channels__send', 'channels__recv', 'channels__subscribe']) {
      expect(skill).toContain(`\`${toolNameFor(vendor, tool)}\``);
    }
  }
});

test('[DI3] a skill has its front matter, every section, and no token left', () => {
  for (const vendor of VENDORS) {
    const { skill, skillName, description } = renderDiscipline({ vendor });
    const [, front = '', body = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(skill) ?? [];
    expect(parse(front)).toEqual({ name: SKILL_NAME, description });
    expect(skillName).toBe('inter-agent-channels');
    expect(body.match(/^#{1,2} .*$/gm)).toEqual(HEADINGS);
    expect(skill).not.toMatch(/\{\{|\}\}/);
    expect(skill.endsWith('\n') && !skill.endsWith('\n\n')).toBe(true);
    expect(skill).toBe(renderDiscipline({ vendor }).skill);
  }
});

test('[DI3] a document of somebody else is rendered the same way', () => {
  const document = 'Use {{recv_tool}} then `claims__take`, not {{other}} or x__y.';
  const { skill } = renderDiscipline({ vendor: 'gemini', document });
  expect(skill).toContain(
    'Use mcp_synod_channels__recv then `mcp_synod_claims__take`, not {{other}} or x__y.',
  );
});

test('[DI4] what is always in context stays under 700 tokens, with what the server says of itself', () => {
  for (const vendor of VENDORS) {
    const { primer, description } = renderDiscipline({ vendor });
    const always = `${INSTRUCTIONS}\n${description}\n${primer}`;
    expect(always.length / CHARS_PER_TOKEN).toBeLessThan(PRIMER_TOKENS_MAX);
    expect(primer).toMatch(/^## Synod.*\n\n- /);
    expect(primer).toContain(SKILL_NAME);
    expect(primer.endsWith('\n')).toBe(true);
    expect(description.length).toBeLessThan(1_024);
  }
  expect(DISCIPLINE_DOCUMENT.length / CHARS_PER_TOKEN).toBeGreaterThan(PRIMER_TOKENS_MAX);
});

test('[DI5] with auto-subscribe the skill says how to come in, one pattern a call', () => {
  const channels = ['ticket:*', 'odd`name\nof "it"'];
  const { skill } = renderDiscipline({ vendor: 'opencode', autoSubscribe: { channels } });
  const [, section = ''] = skill.split('\n## Activation\n');
  expect(section).toContain('`{"pattern":"agent/<your name>"}`');
  const patterns = [...section.matchAll(/^ {3}- `(.*)`$/gm)].map(([, json]) =>
    JSON.parse(json ?? ''),
  );
  expect(patterns).toEqual([
    { pattern: 'agent/<your name>' },
    { pattern: 'ticket:*' },
    { pattern: 'odd`name\nof "it"' },
  ]);
  const order = ['channels__subscribe` once for each', 'channels__recv` once', 'polling cadence'];
  const places = order.map((words) => section.indexOf(words));
  expect(places.every((place) => place > 0)).toBe(true);
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(section).not.toContain('channels=');
  // Only what is offered by default: a tool the model is not shown cannot be called.
  const offered = operationList.filter(({ toolset }) => toolset === 'core').map(toolName);
  for (const [, name = ''] of section.matchAll(/`synod_(\w+)`/g)) expect(offered).toContain(name);
  expect(renderDiscipline({ vendor: 'opencode' }).skill).not.toContain('Activation');
  const none = renderDiscipline({ vendor: 'claude', autoSubscribe: { channels: [] } });
  expect(none.skill).toContain('agent/<your name>"}`\n3. ');
});
