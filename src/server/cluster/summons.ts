/**
 * One server summons another to a space, so that it can take it: the other opens it, and says whether it has. Both
 * words are sealed; a summons that comes twice does no more than one [SQ10].
 */

import { readJson } from '../../core/law/json.ts';
import type { Holder } from '../../log/lease.ts';
import type { Link } from '../../log/nats/link.ts';
import type { NatsPlace } from '../../log/nats/place.ts';
import { markOf, type Seals } from './seal.ts';

/** Opens a space that is there; false when it cannot. */
export type OpenSpace = (space: string) => Promise<boolean>;

export interface Summons {
  summon(server: Holder, space: string): Promise<boolean>;
  /** From now on this server comes when it is summoned. */
  heed(open: OpenSpace): void;
  close(): void;
}

/** As long as a long log takes to be read. */
const OPEN_MS = 20_000;
const OPENED = 'opened';

interface Word {
  readonly space: string;
  /** The space itself, sealed. */
  readonly sealed: string;
}

export function openSummons(link: Link, place: NatsPlace, id: string, seals: Seals): Summons {
  const { connection } = link;
  const subjectOf = (server: string): string => `${place.prefix}.summons.${server}`;
  let stop = (): void => {};

  async function answer(data: Uint8Array, open: OpenSpace): Promise<Uint8Array | null> {
    const { space, sealed } = readJson(Buffer.from(data).toString('utf8')) as Word;
    const bytes = Buffer.from(sealed, 'base64');
    const opened = seals.open({ purpose: 'summons', space, to: id }, bytes);
    if (opened === null) return null;
    const said = (await open(space).catch(() => false)) ? OPENED : 'refused';
    return seals.seal({ purpose: 'answer', space, to: opened.mark }, Buffer.from(said));
  }

  return {
    async summon(server, space) {
      const to = server.id;
      const sealed = seals.seal({ purpose: 'summons', space, to }, Buffer.from(space));
      const word: Word = { space, sealed: Buffer.from(sealed).toString('base64') };
      const timeout = OPEN_MS;
      const { data } = await connection.request(subjectOf(to), JSON.stringify(word), { timeout });
      const opened = seals.open({ purpose: 'answer', space, to: markOf(sealed) }, data);
      return opened !== null && Buffer.from(opened.bytes).toString('utf8') === OPENED;
    },
    heed(open) {
      const asked = connection.subscribe(subjectOf(id), {
        callback(error, message) {
          if (error !== null) return;
          // What no server of ours says is not answered.
          answer(message.data, open).then(
            (reply) => reply !== null && message.respond(reply),
            () => {},
          );
        },
      });
      stop = () => asked.unsubscribe();
    },
    close: () => stop(),
  };
}
