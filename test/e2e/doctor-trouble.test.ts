/** The doctor and what goes wrong around it: each gets a sentence that says what, and how to mend it. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type DoctorScene, openDoctorScene } from './doctor-scene.ts';

let scene: DoctorScene;
beforeEach(async () => {
  scene = await openDoctorScene();
});
afterEach(async () => await scene.close());

const synod = async (...args: string[]): Promise<void> => {
  expect(await scene.synod(args)).toMatchObject({ code: 0 });
};
const up = (...args: string[]): Promise<void> => synod('up', '--port', '0', ...args);
const hubPid = (): number => JSON.parse(readFileSync(join(scene.dir, 'hub.json'), 'utf8')).pid;

describe('[DO3] the hub', () => {
  test('one that is down is not started, and the hops behind it are not tried', async () => {
    await synod('install', 'claude');
    const { code, of } = await scene.doctor(['claude']);
    expect(code).toBe(1);
    expect(of('hub')).toEqual([`fail: no hub runs from ${scene.dir} > synod up`]);
    for (const hop of ['mcp', 'message', 'hook', 'guard']) {
      expect(of(hop)).toEqual(['skip: needs the hub > null']);
    }
    expect(of('files')[0]).toMatch(/^ok/);
    expect(existsSync(join(scene.dir, 'hub.json'))).toBe(false);
  });

  test('one is started when that is asked for', async () => {
    await synod('install', 'claude');
    const { of } = await scene.doctor(['claude', '--start', '--quick'], { SOX_HTTP_PORT: '0' });
    expect(of('hub')[0]).toMatch(/^ok: http/);
    expect(of('message')[0]).toMatch(/^ok/);
  });

  test('one that was killed is told from one that never was', async () => {
    await up();
    const pid = hubPid();
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => existsSync(`/proc/${pid}/exe`)).toBe(false);
    const { of } = await scene.doctor([]);
    expect(of('hub')[0]).toMatch(
      new RegExp(
        `^fail: .*the last one \\(process ${pid}\\) is gone without a farewell > synod up`,
      ),
    );
  });

  test('an owner’s credential that is not the hub’s own', async () => {
    await up('--no-socket');
    expect((await scene.doctor([])).of('credential')[0]).toMatch(
      /^ok: accepted: the credential in/,
    );
    writeFileSync(join(scene.dir, 'credential'), 'something else\n');
    const { of } = await scene.doctor([]);
    expect(of('hub')[0]).toMatch(/^ok/);
    expect(of('credential')[0]).toMatch(
      /^fail: .*does not accept the owner’s credential .* > .*synod down, then synod up/,
    );
  });

  test('a token: revoked, ended, unknown, wrong and no token at all are told apart', async () => {
    await up();
    const { token, token_id: id } = await scene.cli.json(['token', 'create', 'ada']);
    const said = async (SYNOD_TOKEN: string): Promise<string | undefined> =>
      (await scene.doctor([], { SYNOD_TOKEN })).of('credential')[0];
    expect(await said(String(token))).toBe(
      'ok: accepted: the token in SYNOD_TOKEN is that of ada (standard) > null',
    );
    expect(await said(`${token}x`)).toMatch(/^fail: .* is known, but its secret is wrong/);
    expect(await said(String(token).replace(String(id), 'ffffffffffff'))).toMatch(
      /^fail: .* is not of this hub/,
    );
    expect(await said('letmein')).toMatch(/^fail: .* it has not the form of a token/);
    const short = await scene.cli.json(['token', 'create', 'bob', '--ttl', '1']);
    await expect
      .poll(() => said(String(short.token)), { timeout: 10_000 })
      .toMatch(/^fail: the token \w+ of bob in SYNOD_TOKEN ended at 2/);
    await scene.cli.run(['token', 'revoke', String(id)]);
    expect(await said(String(token))).toMatch(
      /^fail: the token \w+ of ada in SYNOD_TOKEN was revoked at 2.* > make a new one/,
    );
  });

  test('two hubs: hooks to the one, tools to the other', async () => {
    const home = join(scene.root, 'moved');
    mkdirSync(home);
    await synod('up', '--port', '0', '--dir', home);
    await synod('up', '--port', '0', '--dir', join(scene.root, 'home/.synod'));
    try {
      const { code, of } = await scene.doctor([], { SYNOD_DIR: '', SYNOD_HOME: home });
      expect(code).toBe(1);
      expect(of('two hubs')[0]).toMatch(
        /^fail: hooks go to the hub of .*\/moved, and tools to that of .*\/home\/\.synod > set SYNOD_DIR/,
      );
      const other = await scene.doctor(['--dir', home], { SYNOD_DIR: '' });
      expect(other.of('two hubs').join('\n')).toMatch(
        /^warn: agents that are started here look .* > start them with SYNOD_DIR=/m,
      );
      expect(other.of('two hubs').join('\n')).toMatch(
        /^warn: another hub runs from .*\/home\/\.synod/m,
      );
      const far = await scene.doctor(['--dir', home], {
        SYNOD_DIR: home,
        SYNOD_URL: 'http://hub.example:1',
      });
      expect(far.of('two hubs')[0]).toMatch(
        /^fail: SYNOD_URL sends tools to http:\/\/hub\.example:1, and hooks go to/,
      );
    } finally {
      await scene.synod(['down', '--dir', home]);
      await scene.synod(['down', '--dir', join(scene.root, 'home/.synod')]);
    }
  });
});

describe('[DO10] what is installed', () => {
  test('nothing at all, and a vendor that is not connected', async () => {
    expect((await scene.doctor([])).of('files')).toEqual([
      'fail: no coding agent is connected to Synod, for the user or here > synod install',
    ]);
    await synod('install', 'claude');
    expect((await scene.doctor(['codex'])).of('files')[0]).toMatch(
      /^fail: Codex is not connected .* > synod install codex/,
    );
  });

  test('JSON and TOML that are not valid are named with line and column, and left as they are', async () => {
    await synod('install', 'claude', 'codex');
    const [json, toml] = ['{\n  "hooks": [,]\n}', '[mcp_servers\n'];
    scene.put('home/.claude/settings.json', json);
    scene.put('home/.codex/config.toml', toml);
    const { code, of } = await scene.doctor(['--quick']);
    expect(code).toBe(1);
    expect(of('files').join('\n')).toMatch(
      /^fail: \S+\/settings\.json:2:13: not valid .* > mend it there/m,
    );
    expect(of('files').join('\n')).toMatch(
      /^fail: \S+\/config\.toml:1:\d+: not valid .* > mend it there/m,
    );
    expect(scene.read('home/.claude/settings.json')).toBe(json);
    expect(scene.read('home/.codex/config.toml')).toBe(toml);
  });

  test('a program that is gone, one that is old, and one that does not say', async () => {
    await synod('install', 'claude', 'codex', 'gemini');
    scene.program('claude', 'echo 1.0.3');
    scene.program('gemini', 'exit 3');
    rmSync(join(scene.root, 'bin/codex'));
    const { of } = await scene.doctor([]);
    const [claude, codex, gemini] = of('program');
    expect(claude).toMatch(
      /^warn: Claude Code 1\.0\.3 is older than .* > npm install -g @anthropic/,
    );
    expect(codex).toMatch(
      /^fail: Codex is not installed: no codex on the PATH > npm install -g @openai/,
    );
    expect(gemini).toMatch(/^warn: gemini --version did not answer with a version/);
    expect(of('trust').join('\n')).toMatch(
      /^warn: Codex did not say whether the hooks were reviewed/m,
    );
  });

  test('the same vendor for the user and in the project', async () => {
    await synod('install', 'gemini', '--user');
    await synod('install', 'gemini', '--project');
    const { of, hops } = await scene.doctor(['--quick']);
    expect(of('files')[0]).toMatch(
      /^warn: gemini is connected for the user and in this project.* > keep one/,
    );
    expect(hops.filter(({ hop }) => hop === 'mcp').map(({ scope }) => scope)).toEqual([
      'user',
      'project',
    ]);
  });

  test('a project without git, and a policy with a mistake', async () => {
    await up();
    mkdirSync(join(scene.root, 'bare'));
    writeFileSync(join(scene.dir, 'policy.toml'), '[guard]\nmode = "maybe"\n');
    const { of } = await scene.doctor(['--project-dir', join(scene.root, 'bare')]);
    expect(of('project')[0]).toMatch(
      /^warn: .*\/bare is in no git repository.* > make it one with: git init/,
    );
    expect(of('policy')[0]).toMatch(
      /^warn: .*policy\.toml: guard\.mode: must be refuse, claim or off/,
    );
  });
});

describe('[DO8] what a person has to agree to is read and never written', () => {
  test('Codex: hooks that were never reviewed, changed since, or are not seen', async () => {
    await synod('install', 'codex');
    const config = scene.read('home/.codex/config.toml');
    const said = async (trust: string): Promise<string | undefined> => {
      scene.put('codex-trust', trust);
      return (await scene.doctor(['codex'])).of('trust')[0];
    };
    expect(await said('trusted')).toMatch(/^ok: Codex runs all 8 hooks/);
    expect(await said('untrusted')).toMatch(
      /^fail: 8 of 8 hooks were never reviewed.* > start codex/,
    );
    expect(await said('modified')).toMatch(/^fail: 8 of 8 hooks changed since they were reviewed/);
    expect(await said('unseen')).toMatch(/^fail: Codex does not see the hooks in /);
    expect(scene.read('home/.codex/config.toml')).toBe(config);
  });

  test('Codex: a project that is not trusted', async () => {
    await synod('install', 'codex', '--project');
    const said = async (): Promise<string[]> =>
      (await scene.doctor(['codex', '--quick'])).of('trust');
    expect((await said())[0]).toMatch(/^fail: Codex reads nothing of .*\/app\/\.codex/);
    scene.put(
      'home/.codex/config.toml',
      `[projects.${JSON.stringify(scene.app)}]\ntrust_level = "trusted"\n`,
    );
    expect((await said())[0]).toMatch(/^ok: Codex trusts/);
  });

  test('Claude Code: the folder, and the server of a project', async () => {
    await synod('install', 'claude', '--project', '--no-permissions');
    const said = async (): Promise<string | undefined> =>
      (await scene.doctor(['claude', '--quick'])).of('trust')[0];
    expect(await said()).toMatch(/^warn: Claude Code will ask whether to use the server/);
    const state = (project: object): void =>
      scene.put('home/.claude.json', JSON.stringify({ projects: { [scene.app]: project } }));
    state({ enabledMcpjsonServers: ['synod'] });
    expect(await said()).toMatch(/^warn: Claude Code will ask whether you trust/);
    state({ enabledMcpjsonServers: ['synod'], hasTrustDialogAccepted: true });
    expect(await said()).toMatch(/^ok: /);
    state({ disabledMcpjsonServers: ['synod'] });
    expect(await said()).toMatch(/^fail: somebody told Claude Code not to use the server/);
  });

  test('Gemini: the folder', async () => {
    await synod('install', 'gemini');
    const said = async (rules: object): Promise<string | undefined> => {
      scene.put('home/.gemini/trustedFolders.json', JSON.stringify(rules));
      return (await scene.doctor(['gemini', '--quick'])).of('trust')[0];
    };
    expect(await said({})).toMatch(
      /^warn: Gemini CLI has not been told whether to trust .* > start gemini/,
    );
    expect(await said({ [scene.root]: 'TRUST_FOLDER' })).toMatch(/^ok/);
    expect(await said({ [scene.root]: 'TRUST_FOLDER', [scene.app]: 'DO_NOT_TRUST' })).toMatch(
      /^fail: somebody told/,
    );
  });
});
