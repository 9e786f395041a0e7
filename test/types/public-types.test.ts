/**
 * Goal: no public type loosens without somebody noticing.
 * Method: what a program may rely on is stated as types, and what must not compile stands behind
 * `@ts-expect-error`, which is itself an error when it compiles. `tsc -b` checks this file against
 * the sources, and test/e2e/package.test.ts against the packed declarations. Nothing here runs.
 */
import type {
  CallId,
  CallInput,
  CallOutput,
  Client,
  ClientErrorCode,
  ClientOptions,
  connect,
  createClient,
  LiveStream,
  Message,
  ReceiptChange,
  SynodError,
  SynodErrorCode,
} from 'synod';
import type { BusStream, ErrorCode, StdioBus, StdioBusError, StdioBusOptions } from 'synod/sdk';
import type { Config, ConfigProblem, parseConfig, RunningServer, startServer } from 'synod/server';
import type { createChance, runSimulation, SimulationReport } from 'synod/testing';
import { expectTypeOf, test } from 'vitest';

type IsLoose<T> = 0 extends 1 & T ? true : unknown extends T ? true : false;

test('[RE3] every operation has an input and an output of its own', () => {
  type Loose = {
    [Id in CallId]: true extends IsLoose<CallInput<Id>> | IsLoose<CallOutput<Id>> ? Id : never;
  }[CallId];
  expectTypeOf<Loose>().toEqualTypeOf<never>();
  expectTypeOf<'channels.send' | 'claims.take' | 'hub.status'>().toExtend<CallId>();
  expectTypeOf<string>().not.toExtend<CallId>();
  expectTypeOf<'stream.open'>().not.toExtend<CallId>();
});

test('[RE3] what is asked and answered is known by the id of the operation', () => {
  type Sent = CallOutput<'channels.send'>;
  expectTypeOf<Sent['message_id']>().toEqualTypeOf<string>();
  expectTypeOf<Sent['seq']>().toEqualTypeOf<number>();
  expectTypeOf<Sent['backpressure']['queue_depth']>().toEqualTypeOf<number>();
  expectTypeOf<CallInput<'channels.send'>['channel']>().toEqualTypeOf<string>();
  expectTypeOf<CallInput<'channels.ack'>['status']>().toEqualTypeOf<
    'received' | 'processing' | 'done' | 'nack'
  >();
  expectTypeOf<CallOutput<'claims.take'>['claim']['epoch']>().toEqualTypeOf<number>();
  expectTypeOf<CallOutput<'claims.list'>['claims'][number]['paths']>().toEqualTypeOf<string[]>();
  expectTypeOf<CallOutput<'hub.whoami'>['agent_id']>().toEqualTypeOf<string>();
  expectTypeOf<ReturnType<Client['send']>>().toEqualTypeOf<Promise<Sent>>();
  expectTypeOf<Parameters<Client['send']>[0]>().toEqualTypeOf<string>();
  expectTypeOf<Awaited<ReturnType<Client['recv']>>>().toEqualTypeOf<CallOutput<'channels.recv'>>();
});

test('[RE3] what is asked wrongly does not compile', () => {
  expectTypeOf(misuse).returns.toEqualTypeOf<Promise<void>>();
});

/** Never called: it only has to compile, and its marked lines have to fail to. */
async function misuse(client: Client, options: ClientOptions): Promise<void> {
  const sent = await client.call('channels.send', { channel: 'a', body: {} });
  expectTypeOf(sent).toEqualTypeOf<CallOutput<'channels.send'>>();
  await client.call('hub.status');
  // @ts-expect-error: an operation that is not in the table.
  await client.call('channels.shout', {});
  // @ts-expect-error: a field that is missing.
  await client.call('channels.send', { channel: 'a' });
  // @ts-expect-error: a field that does not exist.
  await client.call('channels.send', { channel: 'a', body: {}, colour: 'red' });
  // @ts-expect-error: a field of the wrong type.
  await client.call('channels.send', { channel: 7, body: {} });
  // @ts-expect-error: a word that the operation does not know.
  await client.call('channels.ack', { message_id: 'm', status: 'perhaps' });
  // @ts-expect-error: an input that may not be left out.
  await client.call('claims.take');
  // @ts-expect-error: a body that is no object.
  await client.send('a', 'text');
  // @ts-expect-error: a field of the answer that does not exist.
  sent.colour;
  // @ts-expect-error: answers are numbers where they say so.
  sent.seq.toUpperCase();
  // @ts-expect-error: a token may be missing.
  options satisfies { readonly token: string };
}

test('[RE3] streams hand out messages and receipts, with their place', () => {
  expectTypeOf<ReturnType<Client['messages']>>().toEqualTypeOf<LiveStream<Message>>();
  expectTypeOf<ReturnType<Client['receipts']>>().toEqualTypeOf<LiveStream<ReceiptChange>>();
  expectTypeOf<Message['position']>().toEqualTypeOf<number>();
  expectTypeOf<Message['sender']>().toEqualTypeOf<string>();
  expectTypeOf<ReceiptChange['message_id']>().toEqualTypeOf<string>();
  expectTypeOf<LiveStream<Message>['ready']>().toEqualTypeOf<Promise<void>>();
});

test('[RE3] errors have a code that can be matched', () => {
  expectTypeOf<ClientErrorCode>().toEqualTypeOf<
    'client.closed' | 'connection.lost' | 'connection.refused' | 'request.timeout'
  >();
  expectTypeOf<SynodError['code']>().toEqualTypeOf<SynodErrorCode>();
  expectTypeOf<'claim.held' | 'rate.limited' | ClientErrorCode>().toExtend<SynodErrorCode>();
  expectTypeOf<SynodError['retryAt']>().toEqualTypeOf<number | null>();
  expectTypeOf<SynodError>().toExtend<Error>();
});

test('[RE3] a client is opened by an address, now or later', () => {
  expectTypeOf<Parameters<typeof connect>>().toEqualTypeOf<[options: ClientOptions]>();
  expectTypeOf<ReturnType<typeof connect>>().toEqualTypeOf<Promise<Client>>();
  expectTypeOf<ReturnType<typeof createClient>>().toEqualTypeOf<Client>();
  expectTypeOf<ClientOptions['url']>().toEqualTypeOf<string>();
  expectTypeOf<Client>().toExtend<AsyncDisposable>();
});

test('[RE3] a hub inside another program has a config without gaps', () => {
  expectTypeOf<ReturnType<typeof parseConfig>>().toEqualTypeOf<Config | ConfigProblem[]>();
  expectTypeOf<Config['auth']>().toEqualTypeOf<'local' | 'open'>();
  expectTypeOf<Config['port']>().toEqualTypeOf<number>();
  expectTypeOf<Config['store']>().toEqualTypeOf<string | null>();
  expectTypeOf<Required<Config>>().toEqualTypeOf<Config>();
  expectTypeOf<Parameters<typeof startServer>[0]>().toEqualTypeOf<Config>();
  expectTypeOf<ReturnType<typeof startServer>>().toEqualTypeOf<Promise<RunningServer>>();
  expectTypeOf<RunningServer['url']>().toEqualTypeOf<string>();
});

test('[RE3] the bus for programs says what it takes and how it fails', () => {
  expectTypeOf<ConstructorParameters<typeof StdioBus>[0]>().toEqualTypeOf<StdioBusOptions>();
  expectTypeOf<StdioBusError['code']>().toEqualTypeOf<ErrorCode>();
  expectTypeOf<number>().not.toExtend<ErrorCode>();
  expectTypeOf<BusStream>().not.toBeAny();
  expectTypeOf<Awaited<ReturnType<StdioBus['request']>>>().toBeUnknown();
});

test('[RE3] a misspelt option or key of the config of the bus does not compile', () => {
  expectTypeOf(misspell).returns.toEqualTypeOf<void>();
});

/** Never called, like `misuse`. */
function misspell(Bus: typeof StdioBus, bus: StdioBus): void {
  const pools = [{ id: 'a', command: 'cat', env_allow: ['OPENAI_*'] }];
  new Bus({ config: { pools, limits: { max_restarts: 1 }, policy: [{ effect: 'deny' }] } });
  // @ts-expect-error: an open door.
  new Bus({ config: { pools, polcy: [{ effect: 'deny' }] } });
  // @ts-expect-error: a pool has instances.
  new Bus({ config: { pools: [{ id: 'a', command: 'cat', instance: 4 }] } });
  // @ts-expect-error: a limit that is not one.
  new Bus({ config: { pools, limits: { max_restart: 1 } } });
  // @ts-expect-error: an option that is not one.
  new Bus({ functions: {}, sesion: 'auto' });
  // @ts-expect-error: of a request it is timeoutMs.
  bus.request('echo', {}, { timeout: 5 });
}

test('[RE3] the simulator is made from a seed and reports in numbers', () => {
  expectTypeOf<Parameters<typeof createChance>>().toEqualTypeOf<[seed: number]>();
  expectTypeOf<ReturnType<typeof runSimulation>>().toEqualTypeOf<Promise<SimulationReport>>();
  expectTypeOf<SimulationReport['entries']>().toEqualTypeOf<number>();
});
