/** The planner: tasks on the plan of the hub, one for each module, and the command that needs them all. */
import type { Craft } from './craft.ts';
import { moduleOf, put, readFacts, taskOf } from './facts.ts';

export const COMMAND_TASK = 'command';

export const backlog: Craft = async ({ dir, hub, asked }) => {
  const { conversions, name } = await readFacts(dir);
  const project = String(asked.project ?? name);
  const tasks = conversions.map((one) => ({
    ...{
      task_id: `${project}.${taskOf(one)}`,
      title: `${one.from} to ${one.to}`,
      files: [moduleOf(one)],
    },
    depends_on: [] as string[],
  }));
  tasks.push({
    ...{
      task_id: `${project}.${COMMAND_TASK}`,
      title: 'The command',
      files: ['src/index.js', 'bin/convert.js'],
    },
    depends_on: tasks.map(({ task_id }) => task_id),
  });
  for (const { files: _, ...task } of tasks) await hub('plan_declare', { ...task, project });
  const files = [await put(dir, 'docs/backlog.json', `${JSON.stringify(tasks, null, 2)}\n`)];
  return {
    text: `${tasks.length} tasks are on the plan`,
    files,
    tasks: tasks.map(({ task_id }) => task_id),
  };
};
