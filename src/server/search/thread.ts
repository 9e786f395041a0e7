/**
 * The thread that owns the indexes of all spaces: one question, one answer, in order. It decides
 * nothing; the thread of the hub says what is done next, and ends this one should it not come back.
 */
import { parentPort } from 'node:worker_threads';
import { readJson } from '../../core/law/json.ts';
import type { Excerpt, FindPlan } from '../desk/search-port.ts';
import { excerptOf } from './excerpt.ts';
import { deleteIndexFile, openIndexFile } from './index-file.ts';
import { type Entries, type IndexStore, openStore, type Place } from './store.ts';

export type Question =
  | {
      readonly kind: 'open';
      readonly space: string;
      readonly path: string;
      readonly isAnew: boolean;
    }
  | { readonly kind: 'add'; readonly space: string; readonly page: Entries }
  | { readonly kind: 'find'; readonly space: string; readonly plan: FindPlan }
  | {
      readonly kind: 'excerpts';
      readonly query: FindPlan['query'];
      readonly bodies: readonly string[];
    }
  | { readonly kind: 'tidy'; readonly space: string }
  | { readonly kind: 'close'; readonly space: string };

export interface Standing extends Place {
  readonly guarded: readonly string[];
}

export interface Answers {
  readonly open: Standing;
  readonly add: Standing;
  /** Null when it took too long. */
  readonly find: readonly number[] | null;
  readonly excerpts: readonly Excerpt[];
  /** Whether there is more to tidy. */
  readonly tidy: boolean;
  readonly close: null;
}

/** `isDamaged`: the index is not what we wrote, and has to be built again. */
export type Reply =
  | { readonly ok: Answers[keyof Answers] }
  | { readonly failed: string; readonly isDamaged: boolean };

/** What one search may take of this thread. */
const FIND_MS_MAX = 750;
/** SQLite: CORRUPT, NOTADB, ERROR (a table that is not there), CONSTRAINT, MISMATCH. */
const DAMAGE: ReadonlySet<number> = new Set([11, 26, 1, 19, 20]);

const stores = new Map<string, IndexStore>();

function storeOf(space: string): IndexStore {
  const store = stores.get(space);
  if (store === undefined) throw new Error(`no index of ${space} is open`);
  return store;
}

function close(space: string): void {
  stores.get(space)?.close();
  stores.delete(space);
}

function answer(question: Question): Answers[keyof Answers] {
  switch (question.kind) {
    case 'open': {
      const { space, path } = question;
      close(space);
      if (question.isAnew) deleteIndexFile(path);
      const store = openStore(openIndexFile(path));
      stores.set(space, store);
      return { ...store.place(), guarded: store.guarded() };
    }
    case 'add': {
      const store = storeOf(question.space);
      return { ...store.add(question.page), guarded: store.guarded() };
    }
    case 'find': {
      const until = performance.now() + FIND_MS_MAX;
      return storeOf(question.space).find(question.plan, () => performance.now() > until);
    }
    case 'excerpts':
      return question.bodies.map((body) =>
        excerptOf(readJson(body) as Record<string, unknown>, question.query.wanted),
      );
    case 'tidy':
      return storeOf(question.space).tidy();
    case 'close':
      close(question.space);
      return null;
  }
}

parentPort?.on('message', (question: Question) => {
  let reply: Reply;
  try {
    reply = { ok: answer(question) };
  } catch (cause) {
    const { message, errcode } = cause as Error & { errcode?: number };
    const isOther = message.startsWith('an index of version');
    reply = { failed: message, isDamaged: isOther || DAMAGE.has((errcode ?? -1) & 0xff) };
  }
  parentPort?.postMessage(reply);
});
