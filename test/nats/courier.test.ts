/** Two servers that forward to one another, over a real node: what one of them being started again does to the key they share. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Link, openLink } from '../../src/log/nats/link.ts';
import { type NatsPlace, parseNatsUrl } from '../../src/log/nats/place.ts';
import { type NatsCourier, openCourier } from '../../src/server/cluster/courier.ts';
import { type Hellos, openHellos } from '../../src/server/cluster/hello.ts';
import { createSeed, keyPairOfSeed, readPublicKey } from '../../src/server/cluster/keys.ts';
import type { Registry, Server } from '../../src/server/cluster/registry.ts';
import { createSeals, type Seals } from '../../src/server/cluster/seal.ts';
import { openWire } from '../chaos/wire.ts';
import { until, within } from '../e2e/deadline.ts';
import { type NatsNode, NO_NATS, openNatsNode } from './server.ts';

const SPACE = 'blue';
/** Asked is the server that opened a lease, which has a name of its own. */
const leaseOf = (name: string): string => `lease-of-${name}`;

interface Started {
  readonly seals: Seals;
  readonly hellos: Hellos;
  readonly courier: NatsCourier;
  /** What it said that was for one alone: with a signature, or by a key that the two share. */
  readonly said: ('signed' | 'keyed')[];
  close(): void;
}

describe.skipIf(NO_NATS !== null)(`forwarding on NATS ${NO_NATS ?? ''}`, () => {
  let node: NatsNode;
  let place: NatsPlace;
  const links: Link[] = [];
  const keys = new Map(['one', 'two'].map((name) => [name, keyPairOfSeed(createSeed())]));
  const servers = new Map<string, Server>();
  const registry: Registry = {
    ...{ cluster: 'c', servers, invitations: new Map(), take: () => false },
  };

  beforeAll(async () => {
    node = await openNatsNode();
    place = parseNatsUrl(`nats://127.0.0.1:${node.port}/couriers`) as NatsPlace;
    for (const [name, { id: publicKey }] of keys) {
      const key = readPublicKey(publicKey) as Server['key'];
      const rest = { spaces: null, tokenKey: null, joinedBy: null, joinedAt: 0, revoked: null };
      servers.set(name, { name, publicKey, key, ...rest });
    }
  });
  afterAll(async () => {
    await Promise.all(links.map((link) => link.release()));
    await node?.close();
  });

  async function start(name: string, at = place): Promise<Started> {
    const link = await openLink(at);
    links.push(link);
    const key = keys.get(name) as ReturnType<typeof keyPairOfSeed>;
    const sealing = createSeals({ name, key, registry, onDropped: () => {} });
    const said: Started['said'] = [];
    const seals: Seals = Object.create(sealing, {
      seal: {
        value(...[sealed, bytes, session]: Parameters<Seals['seal']>) {
          if (['ask', 'answer'].includes(sealed.purpose)) said.push(session ? 'keyed' : 'signed');
          return sealing.seal(sealed, bytes, session);
        },
      },
    });
    const hellos = openHellos(link, place.prefix, seals, registry);
    const fail = (what: string, cause: unknown): void => {
      throw new Error(what, { cause });
    };
    const courier = openCourier(link, place, SPACE, seals, hellos, fail, () => {});
    const leave = courier.attend(leaseOf(name), async (commands) => ({
      ...{ outcomes: commands.map((_, n) => ({ seq: n })), length: 1, passing: [] },
    }));
    return {
      ...{ seals, hellos, courier, said },
      close() {
        leave();
        courier.close();
        hellos.close();
      },
    };
  }

  test('[JN10] a server that was started again is asked with another key at once, and nobody waits for an answer', async () => {
    const one = await start('one');
    let two = await start('two');
    const ask = () => within('an answer', one.courier.ask(leaseOf('two'), []), 5_000);
    const isDone = (reply: unknown) =>
      typeof reply === 'object' && reply !== null && 'outcomes' in reply;
    // Until they have met: one that is not known yet is told to ask again.
    await until('they have met', ask, isDone);
    await until(
      'they share a key',
      () => one.hellos.confirm('two'),
      (isMet) => isMet,
    );
    const { incarnation } = two.seals;
    expect(one.seals.sessionWith({ from: 'two', incarnation })).not.toBeNull();
    await ask();
    for (const { said } of [one, two]) said.length = 0;
    expect(await ask()).toMatchObject({ outcomes: [] });
    expect([one.said, two.said]).toEqual([['keyed'], ['keyed']]);
    two.close();
    // Nobody is there: what was to be sent is kept as it was sealed.
    const commands: never[] = [];
    expect(await within('word', one.courier.ask(leaseOf('two'), commands), 5_000)).toBe('nobody');
    two = await start('two');
    const again = await within('an answer', one.courier.ask(leaseOf('two'), commands), 5_000);
    expect(again).not.toBe('unknown');
    expect(isDone(await until('it is done', ask, isDone))).toBe(true);
    two.close();
    one.close();
  });

  test('[SQ14] who was cut off is told when it hears again, and asks then for what it missed', async () => {
    const wire = await openWire(node.port);
    const far = parseNatsUrl(`nats://127.0.0.1:${wire.port}/couriers`) as NatsPlace;
    const one = await start('one');
    const two = await start('two', far);
    try {
      const heard: string[] = [];
      for (const { courier } of [one, two])
        courier.onWhisper((words) => void heard.push(...words.map(({ type }) => type)));
      let returned = (): void => {};
      const isBack = new Promise<void>((resolve) => {
        returned = resolve;
      });
      two.courier.onReturn(() => {
        returned();
        two.courier.whisper([{ type: 'server.hello' }]);
      });
      await until(
        'they have met',
        async () => {
          one.courier.whisper([{ type: 'server.here' }]);
          return heard.length;
        },
        (count) => count > 0,
      );
      await until(
        'both ways',
        () => one.hellos.confirm('two'),
        (isMet) => isMet,
      );
      wire.cut('reset');
      heard.length = 0;
      one.courier.whisper([{ type: 'server.left' }]);
      wire.mend();
      await within('it is told', isBack, 20_000);
      await until(
        'it has asked',
        async () => heard.includes('server.hello'),
        (isAsked) => isAsked,
      );
      expect(heard).not.toContain('server.left');
    } finally {
      two.close();
      one.close();
      await wire.close();
    }
  }, 60_000);
});
