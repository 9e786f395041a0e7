/**
 * Goal: a turn works where it may, with what it may know, and its secrets stay secret.
 * Method: real directories, links, modes and commands.
 */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { checkSecret, readSecret } from './read-secret.ts';
import { turnEnvironment } from './turn-environment.ts';
import { ownPlace, placeOf } from './turn-place.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'synod-place-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const root = join(base, 'root');
const dir = join(root, '.synod');
for (const path of ['root/project', 'root/.synod/spaces', 'rooted', 'elsewhere']) {
  mkdirSync(join(base, path), { recursive: true });
}
symlinkSync(join(base, 'elsewhere'), join(root, 'way-out'));
symlinkSync(root, join(base, 'way-in'));
writeFileSync(join(root, 'file'), '');
const places = { roots: [root], dir };

describe('where a turn works', () => {
  test('[RU9] inside a root, links followed', async () => {
    expect(await placeOf(join(root, 'project'), places)).toBe(join(root, 'project'));
    expect(await placeOf(join(base, 'way-in', 'project'), places)).toBe(join(root, 'project'));
    expect(await placeOf(root, { ...places, roots: [join(base, 'way-in')] })).toBe(root);
    expect(await placeOf('~', { roots: ['/'], dir })).toBe(realpathSync(homedir()));
  });

  test.each([
    ['project', 'is no absolute path'],
    ['ROOT/none', 'is no directory'],
    ['ROOT/file', 'is no directory'],
    ['ROOT/../elsewhere', 'lies outside the roots'],
    ['ROOT/way-out', 'lies outside the roots'],
    ['ROOTed', 'lies outside the roots'],
    ['ROOT/.synod', 'lies in the hub’s own directory'],
    ['ROOT/.synod/spaces', 'lies in the hub’s own directory'],
  ])('[RU9] not in %s, which %s', async (path, problem) => {
    const refusal = await placeOf(path.replace('ROOT', root), places);
    expect(refusal).toMatchObject({ refused: 'runner.cwd-outside', detail: { field: 'cwd' } });
    expect((refusal as { message: string }).message).toContain(problem);
  });

  test('[RU9] without one, in a directory of its own that no name can lead out of', async () => {
    const own = await ownPlace(dir, 'default', '../../x');
    expect(own).toBe(join(dir, 'turns', 'work', 'default', '..%2F..%2Fx'));
    expect(await ownPlace(dir, 'default', '..')).toBe(
      join(dir, 'turns', 'work', 'default', '%2E%2E'),
    );
  });
});

test('[RU8] a turn has what a program needs, what was named, and its own way to the hub', () => {
  const from = {
    ...{ PATH: '/bin', HOME: '/her/home', LC_ALL: 'C', EDITOR: 'vi', SYNOD_TOKEN: 'of the hub' },
    ...{ OPENAI_API_KEY: 'k', GH_TOKEN: 't', CLAUDE_CODE_ENTRYPOINT: 'x', CODEX_HOME: 'y' },
  };
  const hub = { url: 'http://h', token: 'syt_1' };
  const turn = { agent_id: 'ada', turn_id: 't-1', space: 'den' };
  const own = {
    ...{ SYNOD_URL: 'http://h', SYNOD_TOKEN: 'syt_1', SYNOD_AGENT: 'ada', SYNOD_TURN: 't-1' },
    ...{ PATH: '/bin', HOME: '/her/home', LC_ALL: 'C', SOX_NAMESPACE: 'den' },
  };
  expect(turnEnvironment(from, {}, hub, turn)).toEqual(own);
  const spec = {
    env: { EDITOR: 'ed', SYNOD_TURN: 'forged' },
    pass_env: ['OPENAI_API_KEY', 'CODEX_HOME', 'SYNOD_TOKEN', 'ABSENT'],
  };
  expect(turnEnvironment(from, spec, hub, turn)).toEqual({
    ...own,
    ...{ EDITOR: 'ed', OPENAI_API_KEY: 'k', CODEX_HOME: 'y' },
  });
});

describe('the secret of a runner', () => {
  const file = join(base, 'key');
  writeFileSync(file, 'sk-very-secret\nsecond line\n', { mode: 0o600 });

  test('[RU10] is the first line of a file of mode 0600, or of what a command prints', async () => {
    expect(await readSecret({ file }, {})).toBe('sk-very-secret');
    const command = ['/bin/sh', '-c', 'echo " from $WHO$0 "; echo other', 'me'];
    expect(await readSecret({ command }, { WHO: 'unnamed', PATH: '/bin' })).toBe('from me');
  });

  test('[RU10] is refused while others can read it, before and when it is used', async () => {
    chmodSync(file, 0o640);
    const refused = { refused: 'runner.secret-readable', detail: { field: 'secret.file' } };
    expect(await checkSecret({ file })).toMatchObject(refused);
    expect(await readSecret({ file }, {})).toMatchObject(refused);
    chmodSync(file, 0o600);
    expect(await checkSecret({ file })).toBeNull();
  });

  test.each([
    [{ file: join(base, 'none') }, /cannot be read \(ENOENT\)/],
    [{ file: base }, /is no file|cannot be read/],
    [{ command: ['no-such-program-x'] }, /no such program|no program/],
    [
      { command: ['/bin/sh', '-c', 'echo sk-leaked; echo sk-leaked >&2; exit 1'] },
      /exited with code 1/,
    ],
    [{ command: ['true'] }, /empty secret/],
  ])(
    '[RU10] that cannot be had is a sentence without a word of it: %j',
    async (source, message) => {
      const refusal = await readSecret(source as { file: string }, { PATH: process.env.PATH });
      expect(refusal).toMatchObject({ refused: 'runner.unusable' });
      expect((refusal as { message: string }).message).toMatch(message);
      expect(JSON.stringify(refusal)).not.toContain('sk-leaked');
    },
  );
});
