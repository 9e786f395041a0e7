/** LangGraph on sessions of the hub: graphs that are interrupted here and resumed by another process. */

import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { BaseCheckpointSaver, MemorySaver } from '@langchain/langgraph-checkpoint';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRunningHub, type RunningHub } from '../../../test/e2e/running-hub.ts';
import { type Client, connect } from '../../client/client.ts';
import { langGraphSaver } from './langgraph-saver.ts';

let running: RunningHub;
let hub: Client;
beforeAll(async () => {
  running = await openRunningHub();
  hub = await connect({ url: running.url, token: running.owner, agent: 'ada' });
});
afterAll(async () => {
  await hub.close();
  await running.close();
});

const State = Annotation.Root({
  said: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
  when: Annotation<Date | null>({ reducer: (_, b) => b, default: () => null }),
});

/** Asks two people one after the other; `ran` tells which nodes ran, and how often. */
function build(checkpointer: BaseCheckpointSaver, ran: string[] = []) {
  return new StateGraph(State)
    .addNode('begin', () => {
      ran.push('begin');
      return { said: ['begun'], when: new Date(0) };
    })
    .addNode('first', () => ({ said: [interrupt('first?') as string] }))
    .addNode('second', () => ({ said: [interrupt('second?') as string] }))
    .addEdge(START, 'begin')
    .addEdge('begin', 'first')
    .addEdge('first', 'second')
    .addEdge('second', END)
    .compile({ checkpointer });
}

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of source) all.push(one);
  return all;
}

const openSaver = (from: Client = hub): BaseCheckpointSaver =>
  new (langGraphSaver(BaseCheckpointSaver, from))();

test('[SN9] an interrupted graph goes on in another process, and no finished node runs again', async () => {
  const config = { configurable: { thread_id: 'two' } };
  const ran: string[] = [];
  await build(openSaver(), ran).invoke({}, config);
  for (const answer of ['yes', 'yes again']) {
    const other = await connect({ url: running.url, token: running.owner, agent: 'ada' });
    const graph = build(openSaver(other), ran);
    expect((await graph.getState(config)).next).toHaveLength(1);
    await graph.invoke(new Command({ resume: answer }), config);
    await other.close();
  }
  const { values, next } = await build(openSaver()).getState(config);
  expect([values.said, next, ran]).toEqual([['begun', 'yes', 'yes again'], [], ['begin']]);
});

test('the history, its branches and its filters are those of the vendor’s own saver', async () => {
  const savers = [new MemorySaver(), openSaver()];
  const told: unknown[] = [];
  for (const saver of savers) {
    const config = { configurable: { thread_id: 'same' } };
    const graph = build(saver);
    await graph.invoke({}, config);
    await graph.invoke(new Command({ resume: 'yes' }), config);
    const history: unknown[] = [];
    for await (const { values, next, metadata, tasks } of graph.getStateHistory(config)) {
      const { source, step } = metadata ?? {};
      history.push({
        values,
        next,
        source,
        step,
        tasks: tasks.map(({ name, interrupts }) => [name, interrupts.map(({ value }) => value)]),
      });
    }
    const past = (await collect(graph.getStateHistory(config))).at(-2);
    const branch = await graph.updateState(past?.config ?? config, { said: ['other'] });
    const state = await graph.getState(branch);
    const listed = await collect(saver.list(config, { filter: { source: 'update' } }));
    const limited = await collect(saver.list(config, { limit: 2 }));
    told.push({ history, values: state.values, listed: listed.length, limited: limited.length });
  }
  expect(told[1]).toEqual(told[0]);
});

test('[SN7] a thread that was compacted is read anew, and goes on from what was kept', async () => {
  const config = { configurable: { thread_id: 'long' } };
  const saver = openSaver();
  const graph = build(saver);
  await graph.invoke({}, config);
  const before = (await collect(graph.getStateHistory(config))).length;
  const { sessions } = await hub.call('sessions.list', { key: 'langgraph:long' });
  const [session] = sessions;
  const on = { session_id: session?.session_id ?? '' };
  // The newest checkpoint, the writes before it and the interrupt after it.
  await hub.call('sessions.compact', { ...on, summary: 'older checkpoints', keep: 3 });
  expect((await collect(graph.getStateHistory(config))).length).toBeLessThan(before);
  await graph.invoke(new Command({ resume: 'yes' }), config);
  expect((await graph.getState(config)).values.said).toEqual(['begun', 'yes']);
});

test('[SN6] a deleted thread begins anew, and those of another agent are not there', async () => {
  const config = { configurable: { thread_id: 'gone' } };
  const saver = openSaver();
  await build(saver).invoke({}, config);
  const other = await connect({ url: running.url, token: running.owner, agent: 'bob' });
  expect(await openSaver(other).getTuple(config)).toBeUndefined();
  expect(await collect(openSaver(other).list({}))).toEqual([]);
  await other.close();
  await saver.deleteThread('gone');
  expect(await saver.getTuple(config)).toBeUndefined();
  await build(saver).invoke({}, config);
  expect((await build(openSaver()).getState(config)).values.said).toEqual(['begun']);
  await expect(saver.put({}, {} as never, {} as never, {})).rejects.toThrow('thread_id');
});

test('[SN4] a thread may be called anything: __proto__ is a thread like others', async () => {
  const config = { configurable: { thread_id: '__proto__' } };
  await build(openSaver()).invoke({}, config);
  expect((await build(openSaver()).getState(config)).values.said).toEqual(['begun']);
});
