/**
 * `node_modules/.bin/node examples/studio/studio.ts [BRIEF.md] [rules|claude|codex|gemini|opencode] [--dir DIR]`
 *
 * Makes a small product of a brief: eight roles, from intake to release. By rules it needs no model and takes
 * seconds; with the word of a vendor its agents play the roles. Before the release it waits for you.
 */
import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openStudio } from './open-studio.ts';
import { VENDORS } from './roles.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dir: { type: 'string', default: 'studio' } },
});
const vendor = VENDORS.find((one) => positionals.includes(one)) ?? 'rules';
const path = positionals.find((one) => one !== vendor) ?? new URL('brief.md', import.meta.url);
const brief = await readFile(path, 'utf8');
const project = basename(path instanceof URL ? path.pathname : path).replace(/\W.*/, '');

const say = (line: string): boolean => process.stdout.write(`${line}\n`);

await using studio = await openStudio({ dir: resolve(values.dir), vendor });
const run = await studio.start({ brief, project });
const data = resolve(values.dir, 'hub');
say(`${run.id} is on its way (${vendor}). See it: synod --dir ${data} web, Work, Runs`);
say(`It asks you before it publishes: synod --dir ${data} gates`);
const { tag, tests, rounds } = await run.result();
say(`${tag} is in ${studio.work}: ${tests} tests pass, review looked ${rounds} times.`);
