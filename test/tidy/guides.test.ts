/**
 * What the other guides show is so: their commands run, their programs print what stands below them, and
 * their tables and blocks are what the code takes. README, start, http, work, embed and the plugin are run
 * by readme.test.ts, deploy/ and examples/ by the e2e tests.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { afterAll, describe, expect, test } from 'vitest';
import { parseBusConfig } from '../../src/bus/router/parse-config.ts';
import { COMMAND_ROWS } from '../../src/tui/commands.ts';
import { isSettings, parseDoorSettings } from '../../src/wire/hook-settings.ts';
import { listFiles, ROOT, readText } from './repository.ts';
import { environment } from './shell-blocks.ts';

const GUIDES = listFiles('docs/guide', '.md');
const home = mkdtempSync(join(tmpdir(), 'synod-guides-'));
const env = { ...environment(home), SYNOD_AGENT: 'ada' };
afterAll(() => {
  run('synod down');
  rmSync(home, { recursive: true, force: true });
});

function blocksOf(page: string, language: string): string[] {
  const fenced = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  return [...readText(page).matchAll(fenced)].map(([, block]) => block as string);
}

function run(script: string, input = '', cwd = home) {
  const whole = `set -e\nsynod() { '${ROOT}bin/synod' "$@"; }\n${script}`;
  return spawnSync('bash', ['-c', whole], { cwd, env, input, encoding: 'utf8', timeout: 60_000 });
}

/** What it prints; it must end well. */
function printed(script: string, input = '', cwd = home): string {
  const { stdout, stderr, status } = run(script, input, cwd);
  expect(status, `${script}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

/** A line of a page as it stands there. */
function line(page: string, begins: string): string {
  const found = readText(page)
    .split('\n')
    .find((each) => each.startsWith(begins));
  expect(found, `${page} has no line that begins with ${begins}`).toBeDefined();
  return found as string;
}

test('every block of JSON and TOML in a guide can be read as such', () => {
  let count = 0;
  for (const page of GUIDES) {
    for (const block of blocksOf(page, 'json')) {
      const lines = block.trim().split('\n');
      // A block is one document, or one in each line.
      const isWhole = lines.length === 1 || !lines.every((each) => /^\{.*\}$/.test(each));
      for (const text of isWhole ? [block] : lines) {
        expect(() => JSON.parse(text), `${page}: ${text}`).not.toThrow();
        count += 1;
      }
    }
    for (const block of blocksOf(page, 'toml')) {
      expect(() => parseToml(block), `${page}: ${block}`).not.toThrow();
    }
  }
  expect(count).toBeGreaterThan(15);
});

test('the settings of the coding agents’ guide are settings', () => {
  const [block = ''] = blocksOf('docs/guide/coding-agents.md', 'toml');
  expect(isSettings(parseDoorSettings(block, {}))).toBe(true);
});

test('the chat guide lists the commands there are, as they are written', () => {
  const page = readText('docs/guide/chat.md');
  const listed = [...page.matchAll(/^\| `\/([^`]+)` \|/gm)].map(([, each]) => each);
  const known = COMMAND_ROWS.map(({ name, usage }) => `${name} ${usage}`.trim());
  expect(listed.sort()).toEqual(known.sort());
});

describe('the guide of the bus', () => {
  const page = 'docs/guide/bus.md';

  test('its first question is answered as shown', () => {
    const [question = '', shown = ''] = blocksOf(page, 'json');
    const command = line(page, 'bin/synod bus --config');
    const answer = JSON.parse(printed(command, question, ROOT));
    expect(Object.keys(answer.result)).toEqual(Object.keys(JSON.parse(shown).result));
    expect({ ...answer, result: 0 }).toEqual({ ...JSON.parse(shown), result: 0 });
    expect(answer.result.echo).toEqual(JSON.parse(shown).result.echo);
  });

  test('its configs have nothing to warn of', () => {
    const pools = [{ id: 'a', command: 'true', instances: 1 }];
    const configs = blocksOf(page, 'json').filter((each) =>
      /^\{ "(pools|clients|policy)"/.test(each),
    );
    expect(configs.length).toBe(3);
    for (const config of configs) {
      const whole = { pools, ...JSON.parse(config.replace('…64 digits…', 'a'.repeat(64))) };
      expect(parseBusConfig(JSON.stringify(whole), page).warnings).toEqual([]);
    }
  });

  test('its worker in Python answers', ({ skip }) => {
    if (spawnSync('python3', ['--version']).status !== 0) skip();
    writeFileSync(join(home, 'worker.py'), blocksOf(page, 'python')[0] ?? '');
    const asked = '{"jsonrpc":"2.0","id":7,"method":"greet"}\n{"jsonrpc":"2.0","method":"n"}\n';
    const answers = printed('python3 worker.py', asked).trim().split('\n');
    expect(answers.map((each) => JSON.parse(each))).toEqual([
      { jsonrpc: '2.0', id: 7, result: { method: 'greet' } },
    ]);
  });
});

test('the first program of the SDK’s guide runs', () => {
  const [program = ''] = blocksOf('docs/guide/sdk.md', 'ts');
  const path = join(home, 'first.ts');
  writeFileSync(path, program.replace(`'synod/sdk'`, `'${ROOT}src/bus/sdk/index.ts'`));
  expect(printed(`'${process.execPath}' '${path}'`, '', ROOT)).toContain("method: 'hello'");
});

test('the workers of their guide start as written', () => {
  const page = 'docs/guide/workers.md';
  expect(JSON.parse(printed(line(page, `echo '{"jsonrpc"`)))).toMatchObject({
    result: { method: 'greet' },
  });
  const prompt = { sessionId: 'x', prompt: [{ type: 'text', text: 'the price of tea' }] };
  const asked = [
    { id: 1, method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } },
    { id: 2, method: 'session/new', params: { cwd: '/', mcpServers: [] } },
    { id: 3, method: 'session/prompt', params: prompt },
  ];
  const input = asked.map((each) => `${JSON.stringify({ jsonrpc: '2.0', ...each })}\n`).join('');
  expect(printed(line(page, 'synod worker rule --rule'), input)).toContain('"protocolVersion":1');
  const tiers = blocksOf(page, 'json').find((each) => each.includes('"tiers"')) ?? '';
  writeFileSync(join(home, 'tiers.json'), tiers);
  expect(printed('synod worker tiered --config tiers.json', input)).toContain(
    '"protocolVersion":1',
  );
});

test('the commands that keep a hub small run one after the other, beside those of its settings', () => {
  const small = 'docs/guide/keep-it-small.md';
  const script = [
    'synod up',
    'synod send room hello',
    line(small, 'synod call spaces.configure'),
    line('docs/guide/synapse.md', 'synod call spaces.configure'),
    ...(blocksOf(small, 'text').at(-1) ?? '').trim().split('\n'),
  ];
  expect(script.length).toBeGreaterThan(8);
  const said = printed(script.join('\n'));
  expect(said).toContain('"stalled_after_ms": 120000');
  expect(said).toMatch(/^ok +archive\.ndjson/m);
});

test('what was so is shown by position and by time', () => {
  const said = printed(blocksOf('docs/guide/look-back.md', 'sh').join('\n'));
  expect(said).toMatch(/^nothing$/m);
});

test('[CL36] the guide of threads posts, replies, marks and describes as it says', () => {
  const said = printed(blocksOf('docs/guide/threads.md', 'sh').join('\n'));
  expect(said).toMatch(/^m\d+ on design: open; 1 reply\n.*ada: post \(question\): Token shape/m);
  expect(said).toMatch(/^closed; m\d+ is closed, resolved, pinned$/m);
  expect(said).toMatch(/^types +decision, question$/m);
  expect(said).toMatch(/ada: Token shape \(question, open, resolved, pinned, 2 replies\)/);
});

test('[RC6] [RC7] the guide of the record anchors, verifies and hands over as it says', () => {
  const [anchor = '', hand = ''] = blocksOf('docs/guide/record.md', 'sh');
  expect(printed(`synod up\nsynod send room hello\n${anchor}`, '', ROOT)).toMatch(
    /anchored \d+ entries.*\n.*\nok .*1 anchor holds/,
  );
  expect(printed(hand, '', ROOT)).toMatch(/^ok: \d+ entries.*\n3 anchors hold/m);
});

test('an agent that connects sees the tools of the table, and a token comes and goes', () => {
  const page = readText('docs/guide/connect-an-agent.md');
  const table = page.slice(
    page.indexOf('| for | tools |'),
    page.indexOf('They are the set `core`'),
  );
  const named = [...table.matchAll(/`(\w+__\w+)`/g)].map(([, each]) => each);
  const asked = [
    {
      ...{ id: 1, method: 'initialize' },
      params: {
        ...{ protocolVersion: '2025-06-18', capabilities: {} },
        clientInfo: { name: 'guide', version: '1' },
      },
    },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/list' },
  ];
  const input = asked.map((each) => `${JSON.stringify({ jsonrpc: '2.0', ...each })}\n`).join('');
  const answers = printed('synod mcp --as ada', input).trim().split('\n');
  const { tools } = JSON.parse(answers.at(-1) ?? '').result as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name).sort()).toEqual(named.sort());
  expect(printed('synod token create ada')).toMatch(/^syn_default\./);
  printed('synod token revoke "$(synod token list | cut -d " " -f 1)"');
  expect(printed('synod token list')).toContain('revoked');
});

describe('the guide of the night', () => {
  const page = 'docs/guide/overnight.md';
  const deadline = () => Date.now() + 60_000;
  const asPat = (script: string) => printed(`export SYNOD_AGENT=pat\n${script}`, '', ROOT);

  /** What `synod turns` and `synod docket` say, once they say it. */
  function until(command: string, wanted: RegExp): string {
    for (const end = deadline(); ; ) {
      const said = asPat(command);
      if (wanted.test(said)) return said;
      expect(Date.now(), `${command} never said ${wanted}:\n${said}`).toBeLessThan(end);
    }
  }

  test('[CL35] [RA3] its commands do what it says: a plan, a gate, a circle, a power cut', () => {
    const [agents = '', task = '', circle = '', cut = '', end = ''] = blocksOf(page, 'sh');
    asPat('synod up');
    asPat(agents);
    asPat(task);
    until('synod docket', /gate\s+cy .*publish: version 1\.0 of the compiler/);
    expect(asPat('synod turns')).toMatch(/^t3 +cy +busy .* of bob on team/m);
    expect(asPat('synod board')).toMatch(/^parser +done/m);
    asPat(circle);
    const docket = until('synod docket', /alert\s+bob .*hops: bob to ada/);
    expect(docket.match(/^ {2}d\d+ /gm)).toHaveLength(2);
    asPat(cut);
    until('synod turns --agent cy', /^t3 +cy +busy/m);
    until('synod docket', /gate\s+cy .*publish/);
    expect(asPat(end)).toContain('cy is managed no more');
    expect(asPat('synod turns show t3')).toMatch(/after a restart/);
  }, 120_000);
});
