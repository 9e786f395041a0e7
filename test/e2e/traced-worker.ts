/**
 * A worker of another maker: it goes on with the trace that a request brings in `_ext`, and tells its own
 * collector of what it does. `COLLECTOR` says where that is.
 */
import { createInterface } from 'node:readline';
import { createTelemetry, otlpSink, withTrace } from '../../src/flow/index.ts';

const telemetry = createTelemetry({
  sinks: [
    otlpSink({ endpoint: process.env.COLLECTOR ?? '', resource: { 'service.name': 'worker' } }),
  ],
});

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, sessionId, _ext, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = withTrace(_ext?.traceparent, () =>
    telemetry.span('look it up', { 'given.messages': params.messages.length }, () => ({
      ...{ outcome: 'done', cost: { tokens_in: 7, tokens_out: 3 } },
      replies: [{ ...where(params.messages), body: { text: `of ${params.turn.traceparent}` } }],
    })),
  );
  await telemetry.flush();
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, sessionId, result: answer })}\n`);
});

/** What was asked in private is answered there. */
function where(messages: readonly { channel: string }[]): { channel?: string } {
  return messages.some(({ channel }) => channel.startsWith('dm/'))
    ? {}
    : { channel: 'team/answers' };
}
