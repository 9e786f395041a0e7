/** What `synod/flow` exports, and what is said of it where it is declared. */
import { posix } from 'node:path';
import { readText } from './repository.ts';

const ENTRY = 'src/flow/index.ts';

export interface Exported {
  readonly name: string;
  readonly isType: boolean;
  readonly path: string;
}

export function readExports(): Exported[] {
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

/** The code of its @example; null when there is none. */
export function exampleOf({ name, path }: Exported): string | null {
  const declared = new RegExp(
    `(/\\*\\*(?:(?!\\*/)[\\s\\S])*\\*/\\n)?(?:// biome-ignore .*\\n)?export (?:abstract |async )?(?:function|class|const|interface|type) ${name}\\b`,
  );
  const [whole, doc = ''] = declared.exec(readText(path)) ?? [];
  if (whole === undefined) throw new Error(`${path} does not declare ${name}`);
  const [, told] = /@example\n([\s\S]*?)\n \*\//.exec(doc) ?? [];
  return told?.replaceAll(/^ \* ?/gm, '').replaceAll(/^```(ts)?\n?/gm, '') ?? null;
}

/** All examples, each in a function of its own, as one module. What they import is imported already. */
export function allExamples(): string {
  const all = readExports();
  const blocks = all.map((one) => {
    const code = (exampleOf(one) ?? '').replaceAll(/^(import .*;|export )/gm, '');
    return `export async function of${one.name}() {\n${code}\n}`;
  });
  const names = all.map(({ name, isType }) => (isType ? `type ${name}` : name));
  return `import { ${names.join(', ')} } from 'synod/flow';\n${blocks.join('\n')}\n`;
}
