/**
 * The window's door: `/` and `/assets/*`, the page as it was built, and `/in/<secret>`, where a person's
 * browser comes in by its link. Host and Origin were judged before. The page itself is no secret and
 * holds nothing; what it shows, it asks for with its session.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isRefusal } from '../../../core/law/decider.ts';
import { REFUSALS, toEnvelope } from '../../../wire/errors.ts';
import type { Desk } from '../../desk/desk.ts';
import { cookieHeader } from './cookie.ts';
import { deviceOf } from './device.ts';
import { createPageFiles } from './files.ts';
import { GUARDED } from './policy.ts';

export interface PageDoor {
  /** A file of the page; null when it has no such file. */
  serve(path: string, headers: IncomingHttpHeaders): Promise<Response | null>;
  /** Somebody comes by a link. */
  enter(secret: string, headers: IncomingHttpHeaders, isSecure: boolean): Promise<Response>;
}

export interface PageDoorOptions {
  readonly desk: Pick<Desk, 'enter'>;
  /** Where the built page lies. */
  readonly dir: string;
}

const HOW_TO_BUILD =
  'The page is not built here. In a checkout of Synod: npm run build. Then load this again.';

export function createPageDoor({ desk, dir }: PageDoorOptions): PageDoor {
  const files = createPageFiles(dir);
  return {
    async serve(path, headers) {
      const isIndex = path === '/';
      const file = await files.find(path);
      if (file === null) return isIndex ? plain(503, HOW_TO_BUILD) : null;
      const isZipped = file.gzipped !== null && /\bgzip\b/.test(`${headers['accept-encoding']}`);
      return new Response(new Uint8Array(isZipped ? file.gzipped : file.bytes), {
        headers: {
          ...GUARDED,
          'content-type': file.type,
          // The name of an asset changes with what is in it; the page that names them does not.
          'cache-control': isIndex ? 'no-store' : 'public, max-age=31536000, immutable',
          vary: 'accept-encoding',
          ...(isZipped && { 'content-encoding': 'gzip' }),
        },
      });
    },

    async enter(secret, headers, isSecure) {
      // What a browser fetches ahead, in case somebody goes there, must not spend the link.
      if (/prefetch|prerender/.test(`${headers['sec-purpose'] ?? headers.purpose}`)) {
        return plain(425, 'This link is for a person to open.');
      }
      const session = await desk.enter(secret, deviceOf(headers['user-agent']));
      if (isRefusal(session)) {
        const status = REFUSALS[session.refused].http;
        if (/\btext\/html\b/.test(headers.accept ?? '')) return plain(status, session.message);
        return Response.json(toEnvelope(session), { status, headers: UNKEPT });
      }
      return new Response(null, {
        status: 303,
        headers: {
          ...UNKEPT,
          'set-cookie': cookieHeader(session, headers.host, isSecure),
          // What stands behind # stays in the browser: the page keeps its half of the session.
          location: `/#${session.page}`,
        },
      });
    },
  };
}

const UNKEPT: Readonly<Record<string, string>> = { ...GUARDED, 'cache-control': 'no-store' };

/** A page without a script: one sentence, as text. */
function plain(status: number, sentence: string): Response {
  const headers = { ...UNKEPT, 'content-type': 'text/plain; charset=utf-8' };
  return new Response(`${sentence}\n`, { status, headers });
}
