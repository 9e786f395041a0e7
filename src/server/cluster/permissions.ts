/**
 * What a server may do at NATS, as a user in its configuration: the subjects that it needs and no others. A server of some
 * spaces reads and writes the streams of these alone. Wildcards of NATS stand for whole words, and the name of a stream is
 * one, so the streams are named as they are now: print it again when a space was made or compacted. To which
 * subject JetStream answers cannot be limited: it bounds mistakes, not a server that is hostile [JN8].
 */
import { pointersOf, readPointer } from '../../log/nats/generation.ts';
import { ensureHeads, headNames, headsStreamOf } from '../../log/nats/heads.ts';
import { inboxOf, type Link } from '../../log/nats/link.ts';
import { writeNkeyPublic } from '../../log/nats/nkey.ts';
import type { NatsPlace } from '../../log/nats/place.ts';
import { namesOf, streamWord } from '../../log/nats/streams.ts';
import { publicBytes } from './keys.ts';
import { nameWord } from './registry.ts';
import { registryStreamOf } from './registry-stream.ts';

export interface NatsUser {
  readonly name: string | null;
  readonly spaces: readonly string[] | null;
  /** Of its token; null for a server that came to NATS otherwise. */
  readonly tokenKey: string | null;
}

interface Subjects {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  readonly remarks: readonly string[];
}

export async function natsUser(link: Link, place: NatsPlace, user: NatsUser): Promise<string> {
  const nkey = user.tokenKey === null ? null : writeNkeyPublic(publicBytes(user.tokenKey));
  const inbox = nkey === null ? '_INBOX' : inboxOf(nkey);
  const subjects =
    user.spaces === null
      ? ofAll(place.prefix, inbox)
      : await ofSome(link, place, user.name, user.spaces, inbox);
  const list = (words: readonly string[]): string =>
    words.map((word) => `        ${JSON.stringify(word)}`).join('\n');
  return [
    `# The server ${user.name ?? 'that joins with this token'}`,
    ...subjects.remarks.map((remark) => `# ${remark}`),
    '{',
    nkey === null
      ? `  user: ${JSON.stringify(user.name ?? 'synod')}, password: "choose one, and put it into the store of the server"`
      : `  nkey: ${nkey}`,
    '  permissions: {',
    '    publish: {',
    `      allow: [\n${list(subjects.publish)}\n      ]`,
    '    }',
    '    subscribe: {',
    `      allow: [\n${list(subjects.subscribe)}\n      ]`,
    '    }',
    '    allow_responses: { max: 16, expires: "1m" }',
    '  }',
    '}',
  ].join('\n');
}

/** It makes streams whose names nobody knows yet: the API of the account is its own. */
function ofAll(prefix: string, inbox: string): Subjects {
  return {
    publish: [`${prefix}.>`, '$JS.API.>'],
    subscribe: [`${prefix}.>`, `${inbox}.>`],
    remarks: [
      'It makes and removes streams, so JetStream is open to it: give the cluster an account of its own',
    ],
  };
}

async function ofSome(
  link: Link,
  place: NatsPlace,
  name: string | null,
  spaces: readonly string[],
  inbox: string,
): Promise<Subjects> {
  const { prefix } = place;
  const own = name === null ? '*' : nameWord(name);
  const alive = name === null ? '*' : streamWord(name);
  // It may make no stream, and this one is made when the first head is signed.
  await ensureHeads(link, place);
  const publish = [
    ...['news', 'hello', 'hello.*', `servers.${own}`, `alive.${alive}`].map(
      (word) => `${prefix}.${word}`,
    ),
    '$JS.API.INFO',
    ...[pointersOf(prefix), registryStreamOf(prefix), headsStreamOf(prefix)].flatMap(reading),
  ];
  const subscribe = [
    ...['news', 'hello', `hello.${own}`, 'alive.*', 'lease.*'].map((word) => `${prefix}.${word}`),
    `${inbox}.>`,
  ];
  const remarks: string[] = [];
  for (const space of spaces) {
    const word = streamWord(space);
    publish.push(`${prefix}.ask.${word}.*`, `${prefix}.whisper.${word}`, `${prefix}.lease.${word}`);
    subscribe.push(`${prefix}.ask.${word}.*`, `${prefix}.whisper.${word}`);
    const pointer = await readPointer(link, place, space);
    if (pointer === null) {
      remarks.push(`There is no space ${space} yet: make it, and print this again`);
      continue;
    }
    const names = namesOf(place, pointer.generation);
    const { headsSubject, anchorsSubject } = headNames(place, space, pointer.generation);
    subscribe.push(headsSubject, anchorsSubject);
    publish.push(names.logSubject, `${names.snapshotSubject}.*`, headsSubject, anchorsSubject);
    publish.push(...reading(names.log), ...reading(names.snapshots));
    publish.push(`$JS.API.STREAM.PURGE.${names.snapshots}`);
  }
  return { publish, subscribe, remarks };
}

/** To look at a stream, read of it and follow it. */
function reading(stream: string): string[] {
  return [
    `$JS.API.STREAM.INFO.${stream}`,
    `$JS.API.STREAM.MSG.GET.${stream}`,
    `$JS.API.DIRECT.GET.${stream}`,
    `$JS.API.DIRECT.GET.${stream}.>`,
    `$JS.API.CONSUMER.CREATE.${stream}`,
    `$JS.API.CONSUMER.CREATE.${stream}.>`,
    `$JS.API.CONSUMER.INFO.${stream}.*`,
    `$JS.API.CONSUMER.DELETE.${stream}.*`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
  ];
}
