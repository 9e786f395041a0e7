/**
 * The engineer: takes each ready task under a claim, writes its files, and marks it done. The first version
 * takes anything for a number, as first versions do; the review finds that, and `fix` mends what it found.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { COMMAND_TASK } from './backlog.ts';
import type { Craft, Job } from './craft.ts';
import { type Conversion, moduleOf, put, readFacts, taskOf } from './facts.ts';

interface Task {
  readonly task_id: string;
  readonly files: readonly string[];
}

const CHECK = `  if (!Number.isFinite(amount)) throw new TypeError(\`\${amount} is no number\`);\n`;

const moduleText = ({ from, to, factor }: Conversion, isChecked: boolean): string => {
  const check = isChecked ? CHECK : '';
  return `export const name = '${from}-${to}';

export function there(amount) {
${check}  return amount * ${factor};
}

export function back(amount) {
${check}  return amount / ${factor};
}
`;
};

const testText = ({
  from,
  to,
  factor,
}: Conversion): string => `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { back, there } from '../${moduleOf({ from, to, factor })}';

test('1 ${from} is ${factor} ${to}', () => assert.equal(there(1), ${factor}));
test('there and back is where one began', () => assert.ok(Math.abs(back(there(7)) - 7) < 1e-9));
test('what is no number is refused', () => assert.throws(() => there('seven'), TypeError));
`;

const indexText = (conversions: readonly Conversion[]): string =>
  `${conversions.map((one, at) => `import * as c${at} from './${taskOf(one)}.js';\n`).join('')}
export const CONVERSIONS = [${conversions.map((_, at) => `c${at}`).join(', ')}];
`;

const COMMAND = `#!/usr/bin/env node
import { CONVERSIONS } from '../src/index.js';

const [amount, from, to] = process.argv.slice(2);
for (const { name, there, back } of CONVERSIONS) {
  const [one, other] = name.split('-');
  const run = from === one && to === other ? there : from === other && to === one ? back : null;
  if (run === null) continue;
  console.log(run(Number(amount)));
  process.exit(0);
}
console.error(\`nothing converts \${from} to \${to}; there are \${CONVERSIONS.map((one) => one.name).join(', ')}\`);
process.exit(2);
`;

async function writeTask(dir: string, task: Task, isChecked: boolean): Promise<string[]> {
  const { conversions } = await readFacts(dir);
  const conversion = conversions.find((one) => task.task_id.endsWith(`.${taskOf(one)}`));
  if (conversion !== undefined) {
    const test = `test/${taskOf(conversion)}.test.js`;
    return [
      await put(dir, moduleOf(conversion), moduleText(conversion, isChecked)),
      await put(dir, test, testText(conversion)),
    ];
  }
  if (!task.task_id.endsWith(`.${COMMAND_TASK}`))
    throw new Error(`nobody knows how to ${task.task_id}`);
  const about = { name: 'convert', version: '1.0.0', type: 'module', bin: 'bin/convert.js' };
  return [
    await put(dir, 'src/index.js', indexText(conversions)),
    await put(dir, 'bin/convert.js', COMMAND),
    await put(dir, 'package.json', `${JSON.stringify(about, null, 2)}\n`),
  ];
}

/** Under a claim: who else writes these files meanwhile is refused. */
async function held(job: Job, task: Task, isChecked: boolean): Promise<string[]> {
  const { dir, hub } = job;
  await hub('claims_take', { task_id: task.task_id, worktree: dir, paths: task.files });
  const files = await writeTask(dir, task, isChecked);
  await hub('claims_update', { task_id: task.task_id, status: 'done' });
  await hub('claims_release', { task_id: task.task_id, evidence: files.join(', ') });
  return files;
}

async function readBacklog(dir: string): Promise<Task[]> {
  return JSON.parse(await readFile(join(dir, 'docs/backlog.json'), 'utf8')) as Task[];
}

export const build: Craft = async (job) => {
  const files: string[] = [];
  for (const task of await readBacklog(job.dir)) files.push(...(await held(job, task, false)));
  return { text: `${files.length} files are written`, files };
};

export const fix: Craft = async (job) => {
  const names = Array.isArray(job.asked.remarks) ? job.asked.remarks.map(String) : [];
  const tasks = (await readBacklog(job.dir)).filter(({ files }) =>
    files.some((file) => names.some((remark) => remark.startsWith(`${file}: `))),
  );
  const files: string[] = [];
  for (const task of tasks) {
    await job.hub('plan_update', { task_id: task.task_id, status: 'open' });
    files.push(...(await held(job, task, true)));
  }
  return { text: `${tasks.length} modules are mended`, files };
};
