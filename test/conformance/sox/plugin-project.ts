/**
 * Synthetic plugins, installed as npm would install them.
 *
 * Each becomes a folder in the project's `node_modules`, with the `sox` key that
 * discovery looks for, a manifest in YAML and a module whose default export is
 * the factory. They write what happens to them, line by line, to the journal
 * file that the server's environment names; nothing else leaves them.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface PluginPackage {
  /** The package name; may be scoped. */
  readonly package: string;
  /** The text of `sox-plugin.yaml`. */
  readonly manifest: string;
  /** The module behind the `./plugin` export, after the journal's `note` was defined. */
  readonly source: string;
}

const PRELUDE = `
import { appendFileSync } from 'node:fs';
const note = (line) => appendFileSync(process.env.SOX_FIXTURE_JOURNAL, line + '\\n');
`;

export async function writePlugins(
  project: string,
  plugins: readonly PluginPackage[],
): Promise<void> {
  for (const plugin of plugins) {
    const folder = join(project, 'node_modules', plugin.package);
    await mkdir(folder, { recursive: true });
    const manifest = {
      name: plugin.package,
      version: '1.0.0',
      type: 'module',
      sox: './sox-plugin.yaml',
      exports: { './plugin': './plugin.js' },
    };
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(folder, 'sox-plugin.yaml'), plugin.manifest);
    await writeFile(join(folder, 'plugin.js'), PRELUDE + plugin.source);
  }
}
