/** Goal: a runner's configuration is refused by field, and holds no secret. Method: shapes, parsed. */
import { describe, expect, test } from 'vitest';
import { isSecretName, runnerChoice, runnerSpec } from './runner-spec.ts';

const problems = (value: unknown): string[] =>
  runnerSpec()
    .safeParse(value)
    .error?.issues.map(({ path }) => path.join('.')) ?? [];

describe('a runner as it is configured', () => {
  test.each([
    { kind: 'command', command: ['./agent', '--once'], cwd: '/srv', env: { LANG: 'C' } },
    { kind: 'rule', rules: [{ pattern: '^hi', flags: 'i', answer: 'hello' }] },
    { kind: 'model', base_url: 'http://127.0.0.1:8080/v1', model: 'm', secret: { file: '/k' } },
    { kind: 'pool', pool: 'thinkers' },
    { kind: 'claude', sign_in: 'subscription', model: 'opus', options: { 'max-turns': 5 } },
    { kind: 'codex', sign_in: 'api', secret: { command: ['pass', 'openai'] } },
    { kind: 'acp', command: ['gemini', '--acp'] },
    { kind: 'outside' },
  ])('[RU1] of kind $kind is taken as it is', (spec) => {
    expect(runnerSpec().parse(spec)).toEqual(spec);
    expect(runnerChoice().parse('night-shift')).toBe('night-shift');
  });

  test.each([
    [{ kind: 'robot' }, 'kind'],
    [{ kind: 'command' }, 'command'],
    [{ kind: 'command', command: [] }, 'command'],
    [{ kind: 'command', command: [''] }, 'command'],
    [{ kind: 'command', command: ['a\0b'] }, 'command.0'],
    [{ kind: 'command', command: ['a'], timeout_ms: 999 }, 'timeout_ms'],
    [{ kind: 'command', command: ['a'], timeout_ms: 86_400_001 }, 'timeout_ms'],
    [{ kind: 'command', command: ['a'], env: { GITHUB_TOKEN: 'x' } }, 'env'],
    [{ kind: 'command', command: ['a'], env: { 'A B': 'x' } }, 'env.A B'],
    [{ kind: 'command', command: ['a'], pass_env: ['OPENAI_*'] }, 'pass_env.0'],
    [{ kind: 'command', command: ['a'], shell: true }, ''],
    [{ kind: 'model', base_url: 'file:///etc/passwd', model: 'm' }, 'base_url'],
    [{ kind: 'model', base_url: 'http://x/v1', model: 'm', secret: 'sk-1' }, 'secret'],
    [{ kind: 'acp' }, 'command'],
  ])('[RU1] that does not fit is refused by field: %j', (spec, field) => {
    expect(problems(spec)).toEqual([field]);
  });

  test('[RU1] a name that looks like a secret’s is known as one', () => {
    const secrets = [
      'OPENAI_API_KEY',
      'GH_TOKEN',
      'AWS_SECRET_ACCESS_KEY',
      'DB_PASSWORD',
      'apikey',
    ];
    expect(secrets.filter((name) => !isSecretName(name))).toEqual([]);
    const plain = ['LANG', 'PATH', 'KEYBOARD', 'MONKEY', 'TOKENIZERS_PARALLELISM', 'EDITOR'];
    expect(plain.filter(isSecretName)).toEqual([]);
  });
});
