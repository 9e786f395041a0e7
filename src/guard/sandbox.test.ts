/**
 * Real children in bubblewrap: what they see of the disk, the network and us. Where bubblewrap is not there,
 * or may make no namespaces, the tests that need it are passed by, and their names say so.
 */
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { createGuard, type Guard } from './guard.ts';
import { findSandbox, tryBubblewrap } from './sandbox.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'synod-guard-box-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));
for (const folder of ['app/src', 'app/out', 'app/only', 'secret']) {
  mkdirSync(join(base, folder), { recursive: true });
}
writeFileSync(join(base, 'app/src/a.txt'), 'a');
writeFileSync(join(base, 'app/.env'), 'KEY=1');
writeFileSync(join(base, 'app/notes'), 'old');
writeFileSync(join(base, 'secret/key'), 'sk-1');
symlinkSync('../../secret/key', join(base, 'app/src/to-key'));

const { isThere, why } = await findSandbox();

const guard = createGuard(
  {
    read: ['app'],
    write: ['app/out', 'app/only', 'app/notes', 'app/later'],
    delete: ['app/out', 'app/later'],
    except: ['app/.env', 'app/out/kept'],
    execute: [
      { program: 'sh', args: ['-c', '**'] },
      { program: process.execPath, args: ['**'] },
    ],
    env: ['PATH', 'SHOWN'],
  },
  { cwd: base },
);

async function sh(script: string, who: Guard = guard): Promise<{ out: string; code: number }> {
  const { child, decision } = await who.spawn('sh', ['-c', script], {
    ...{ cwd: join(base, 'app'), enforcement: 'os' },
    env: { PATH: process.env.PATH, SHOWN: 'yes', SECRET: 'no' },
  });
  expect(decision).toMatchObject({ allowed: true, enforcement: 'os', kind: 'execute' });
  const ended = once(child, 'close');
  const [out, , [code]] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
    ended,
  ]);
  return { out: out.trim(), code };
}

function isRunning(command: string): boolean {
  return readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') === command;
    } catch {
      return false;
    }
  });
}

describe.skipIf(!isThere)(`in the sandbox (${why})`, () => {
  test('[PO10] a child reads what it may and sees nothing else', async () => {
    expect(await sh('pwd; cat src/a.txt')).toEqual({ out: `${join(base, 'app')}\na`, code: 0 });
    for (const path of [`${base}/secret/key`, 'src/to-key', '/etc/passwd', '.env', '/root']) {
      expect((await sh(`cat ${path} || echo no`)).out, path).toBe('no');
    }
    expect((await sh(`ls ${base}`)).out).toBe('app');
    expect((await sh('ls /proc | grep -c "^[0-9]"')).out).not.toMatch(/^\d{3,}$/);
  });

  test('[PO10] it writes where it may write and delete, and nowhere else', async () => {
    const { out } = await sh(
      'echo new > out/x && echo 1; echo new > src/x || echo 2; echo new > only/x || echo 3; ' +
        'echo new > notes && echo 4; rm -f notes || echo 5; rm out/x && echo 6; ' +
        'echo x > /usr/evil || echo 7; echo x > .env || echo 8; echo left > out/y',
    );
    expect(out.split('\n')).toEqual(['1', '2', '3', '4', '5', '6', '7', '8']);
    expect(readFileSync(join(base, 'app/notes'), 'utf8')).toBe('new\n');
    expect(readFileSync(join(base, 'app/out/y'), 'utf8')).toBe('left\n');
    expect(readFileSync(join(base, 'app/.env'), 'utf8')).toBe('KEY=1');
    expect(existsSync(join(base, 'app/only/x'))).toBe(false);
    expect(existsSync('/usr/evil')).toBe(false);
  });

  test('[PO10] who may read everything reads everything, and writes where it may', async () => {
    const wide = createGuard(
      {
        ...{ read: ['/'], write: ['app/out'], delete: ['app/out'], except: ['app/.env'] },
        ...{ execute: [{ program: 'sh', args: ['-c', '**'] }], env: ['PATH'] },
      },
      { cwd: base },
    );
    const script = 'cat ../secret/key; echo x > out/wide && cat out/wide; cat .env; echo y > no';
    expect(await sh(script, wide)).toMatchObject({ out: 'sk-1x', code: 2 });
    expect(existsSync(join(base, 'app/no'))).toBe(false);
  });

  test('[PO10] where the sandbox is not as fine as the policy, the decision says so', async () => {
    const { child, decision } = await guard.spawn('sh', ['-c', 'true'], { enforcement: 'os' });
    await once(child, 'close');
    expect(decision.gaps?.join('\n')).toContain('app/only may be written and not deleted from');
    expect(decision.gaps?.join('\n')).toContain('app/later is not there');
    expect(decision.gaps?.join('\n')).toContain('app/out/kept is not there');
  });

  test('[PO10] it has no network, no privileges and none of our environment', async () => {
    let connections = 0;
    const server = createServer(() => connections++).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const script = `
      require('node:net').connect(${port}, '127.0.0.1')
        .on('connect', () => console.log('through')).on('error', (e) => console.log(e.code));`;
    const { child } = await guard.spawn(process.execPath, ['-e', script], { enforcement: 'os' });
    expect((await text(child.stdout as NodeJS.ReadableStream)).trim()).toBe('ECONNREFUSED');
    server.close();
    expect(connections).toBe(0);
    expect((await sh('echo $SHOWN-$SECRET')).out).toBe('yes-');
    expect((await sh('grep CapEff /proc/self/status')).out).toMatch(/0000000000000000$/);
    expect((await sh('mount -t tmpfs none /tmp 2>/dev/null || echo no')).out).toBe('no');
  });

  test('[PO10] [PO11] the child of a guard is bound to what both allow', async () => {
    const narrow = guard.child({
      ...{ read: ['app/src', 'secret'], execute: [{ program: 'sh', args: ['-c', '**'] }] },
    });
    const { child } = await narrow.spawn('sh', ['-c', `ls ${base} ${base}/app`], {
      enforcement: 'os',
    });
    expect(await text(child.stdout as NodeJS.ReadableStream)).toBe(
      `${base}:\napp\n\n${base}/app:\nsrc\n`,
    );
    await expect(
      narrow.spawn('sh', ['-c', 'true'], { cwd: join(base, 'app') }),
    ).rejects.toMatchObject({ code: 'guard.no-rule' });
  });

  test('[PO10] with the sandbox ends everything that was started in it', async () => {
    const mark = `60${process.pid}.25`;
    const { child } = await guard.spawn('sh', ['-c', `sleep ${mark} & echo up; sleep ${mark}`], {
      enforcement: 'os',
    });
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    const isLeft = (): boolean => isRunning(`sleep\0${mark}\0`);
    await expect.poll(isLeft).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'close');
    await expect.poll(isLeft).toBe(false);
  });
});

test('[PO10] without a sandbox the decision says advisory, and who wants one is refused', async () => {
  const { child, decision } = await guard.spawn('sh', ['-c', 'true'], { enforcement: 'advisory' });
  await once(child, 'close');
  expect(decision).toMatchObject({ enforcement: 'advisory', gaps: ['no sandbox was asked for'] });
});

test('[PO10] whether there is a sandbox is found out by trying', async () => {
  expect(await tryBubblewrap('no-such-bubblewrap')).toMatchObject({
    ...{ isThere: false, why: 'bubblewrap is not installed' },
  });
  const failing = join(base, 'bwrap');
  writeFileSync(
    failing,
    '#!/bin/sh\necho "bwrap: No permissions to create new namespace" >&2; exit 1\n',
    {
      mode: 0o755,
    },
  );
  const { isThere: isFailing, why: said } = await tryBubblewrap(failing);
  expect([isFailing, said]).toEqual([false, expect.stringContaining('No permissions')]);
});
