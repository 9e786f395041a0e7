/**
 * The layers as docs/ARCHITECTURE.md draws them: which folder may import which, and
 * which world it lives in. The page is the statement; the walls are tested against it.
 */
import { readText, tableRows } from './repository.ts';

export interface Layer {
  readonly folder: string;
  readonly mayImport: readonly string[];
  readonly world: 'ES' | 'Node' | 'ES + DOM';
}

export function readLayers(): Layer[] {
  const section = readText('docs/ARCHITECTURE.md').split('\n## ').find(isLayers) ?? '';
  return tableRows(section, 4).flatMap(([folder = '', , mayImport = '', world = '']) => {
    const [, name] = /^`([a-z/]+)`$/.exec(folder) ?? [];
    if (name === undefined) return [];
    const names = [...mayImport.matchAll(/`([a-z/]+)`/g)].map(([, one]) => one as string);
    return [{ folder: name, mayImport: names, world: world as Layer['world'] }];
  });
}

/** What a folder reaches: references lead on downwards, so what it may import may be passed through. */
export function reachOf(layers: readonly Layer[], folder: string): Set<string> {
  const reached = new Set<string>();
  const walk = (name: string): void => {
    for (const next of layers.find((layer) => layer.folder === name)?.mayImport ?? []) {
      if (reached.has(next)) continue;
      reached.add(next);
      walk(next);
    }
  };
  walk(folder);
  return reached;
}

function isLayers(section: string): boolean {
  return section.startsWith('The layers');
}
