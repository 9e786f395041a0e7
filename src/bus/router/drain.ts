/** The end of a bus: whoever still waits is told that no answer will come, and whether it may have run. */
import { failed } from './answers.ts';
import type { Exchange } from './exchange.ts';
import type { Ask } from './state.ts';
import type { Waiting } from './waiting.ts';

export function failRest(exchange: Exchange): void {
  const rest: Ask[] = [];
  for (const client of exchange.clients) rest.push(...client.asks.values());
  // Those under a key may have lost their client, and are still owed to whoever repeats them.
  for (const { links, waiting } of exchange.pools.all) {
    rest.push(...asksIn(waiting));
    for (const link of links) rest.push(...link.inFlight.values(), ...asksIn(link.waiting));
  }
  for (const newest of rest) {
    for (let ask: Ask | null = newest; ask; ask = ask.twin) {
      if (ask.isDone) continue;
      failed(exchange, ask, {
        code: 'bus.draining',
        message: `the bus stopped before ${ask.method} was answered`,
        mayHaveRun: ask.link !== null,
      });
    }
  }
}

function asksIn(waiting: Waiting): Ask[] {
  const asks: Ask[] = [];
  for (const { ask } of waiting.live()) if (ask) asks.push(ask);
  return asks;
}
