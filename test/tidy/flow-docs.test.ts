/** What `synod/flow` exports is told where it is declared: each value with an example, each type in a sentence. */
import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { readText } from './repository.ts';

const ENTRY = 'src/flow/index.ts';

interface Exported {
  readonly name: string;
  readonly isType: boolean;
  readonly path: string;
}

function readExports(): Exported[] {
  const found: Exported[] = [];
  const lists = readText(ENTRY).matchAll(/^export (type )?\{([^}]*)\} from '([^']+)';/gm);
  for (const [, allTypes, list = '', from = ''] of lists) {
    for (const item of list.split(',').map((one) => one.trim())) {
      if (item === '') continue;
      const isType = allTypes !== undefined || item.startsWith('type ');
      const path = posix.join(posix.dirname(ENTRY), from);
      found.push({ name: item.replace(/^type /, ''), isType, path });
    }
  }
  return found;
}

/** The comment right above where it is declared; empty when there is none. */
function docOf({ name, path }: Exported): string {
  const declared = new RegExp(
    `(/\\*\\*(?:(?!\\*/)[\\s\\S])*\\*/\\n)?(?:// biome-ignore .*\\n)?export (?:abstract |async )?(?:function|class|const|interface|type) ${name}\\b`,
  );
  const [whole, doc = ''] = declared.exec(readText(path)) ?? [];
  expect(whole, `${path} declares ${name}`).toBeDefined();
  return doc;
}

/** Its members say all there is to say. */
const TOLD_BY_MEMBERS = new Set(['GateAsk']);

const all = readExports();

test('every exported value of synod/flow has an @example', () => {
  const values = all.filter(({ isType }) => !isType);
  expect(values.length).toBeGreaterThan(40);
  const bare = values.filter((one) => !/@example\n \* \S/.test(docOf(one)));
  expect(bare.map(({ name, path }) => `${name} in ${path}`)).toEqual([]);
});

test('every exported type of synod/flow says what it is', () => {
  const types = all.filter(({ isType }) => isType);
  expect(types.length).toBeGreaterThan(100);
  const bare = types.filter((one) => docOf(one) === '' && !TOLD_BY_MEMBERS.has(one.name));
  expect(bare.map(({ name, path }) => `${name} in ${path}`)).toEqual([]);
});
