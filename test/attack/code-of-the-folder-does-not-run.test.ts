/** Whoever starts a hub in a folder that others filled runs none of their code in it. */
import { existsSync, mkdirSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { manifestOf } from '../../plugins/host-kit.test.fixture.ts';
import { type Home, openHome } from '../e2e/cli-run.ts';

let home: Home;
let folder: string;
const mark = (): string => join(folder, 'it-ran');

beforeAll(() => {
  home = openHome();
  folder = join(dirname(home.dir), 'cloned');
  const inside = join(folder, 'node_modules', 'nice-plugin');
  mkdirSync(inside, { recursive: true });
  const description = { name: 'nice-plugin', type: 'module', sox: './m.yaml', exports: './p.js' };
  writeFileSync(join(inside, 'package.json'), JSON.stringify(description));
  writeFileSync(join(inside, 'm.yaml'), JSON.stringify(manifestOf('io.nice', 'hook')));
  const code = `import { writeFileSync } from 'node:fs';
    writeFileSync(${JSON.stringify(mark())}, '');
    export default () => () => {};`;
  writeFileSync(join(inside, 'p.js'), code);
});
afterAll(() => home.close());

test('[P15] a hub started there in the background neither loads its plugins nor stands there', async () => {
  const { pid, url } = await home.json(['up', '--port=0'], { cwd: folder });
  expect(url).toMatch(/^http:/);
  expect(existsSync(mark())).toBe(false);
  if (process.platform === 'linux') {
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe(realpathSync(home.dir));
  }
  await home.json(['down'], { cwd: folder });
});

test('[P3] [P15] a list loads what it names and nothing else; by name the plugin does load', async () => {
  await home.json(['up', '--port=0', '--allow-plugins=io.other'], { cwd: folder });
  await home.json(['down'], { cwd: folder });
  expect(existsSync(mark())).toBe(false);
  await home.json(['up', '--port=0', '--allow-plugins=io.nice'], { cwd: folder });
  await home.json(['down'], { cwd: folder });
  expect(existsSync(mark())).toBe(true);
});
