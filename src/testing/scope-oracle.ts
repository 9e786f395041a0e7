/**
 * What a path of a scope covers, by trying: the slow and obvious reading of a glob, written
 * without a look at the real one, for tests to hold the real one against. ASCII only.
 */
export function coversByTrying(pattern: string, path: string): boolean {
  const names = tidy(path.toLowerCase());
  return spellings(pattern.toLowerCase()).some((spelling) => {
    const parts = tidy(spelling);
    const isFile = /[^./]\.[a-z][a-z0-9]{0,7}$/.test(spelling);
    for (let depth = isFile ? names.length : 0; depth <= names.length; depth++) {
      if (matchesAll(parts, names.slice(0, depth))) return true;
    }
    return false;
  });
}

/** Every path of at most `depth` names out of these. */
export function everyPath(names: readonly string[], depth: number): string[] {
  let level: string[] = [''];
  const all: string[] = [];
  for (let i = 0; i < depth; i++) {
    level = level.flatMap((path) => names.map((name) => (path === '' ? name : `${path}/${name}`)));
    all.push(...level);
  }
  return all;
}

function tidy(path: string): string[] {
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return names;
}

/** Innermost braces first, until none is left. */
function spellings(pattern: string): string[] {
  const brace = /\{([^{}]*,[^{}]*)\}/.exec(pattern);
  if (brace === null) return [pattern];
  const before = pattern.slice(0, brace.index);
  const after = pattern.slice(brace.index + brace[0].length);
  return (brace[1] ?? '').split(',').flatMap((part) => spellings(before + part + after));
}

function matchesAll(parts: readonly string[], names: readonly string[]): boolean {
  const [part, ...rest] = parts;
  if (part === undefined) return names.length === 0;
  if (part === '**') {
    return names.some((_, i) => matchesAll(rest, names.slice(i))) || matchesAll(rest, []);
  }
  const [name, ...others] = names;
  if (name === undefined) return false;
  return (matches(part, name, true) || matches(part, name, false)) && matchesAll(rest, others);
}

function matches(part: string, name: string, hasSets: boolean): boolean {
  if (part === '') return name === '';
  const [first = ''] = part;
  if (first === '*') {
    return (
      matches(part.slice(1), name, hasSets) ||
      (name !== '' && matches(part, name.slice(1), hasSets))
    );
  }
  if (name === '') return false;
  const set = hasSets ? /^\[([!^]?)(\]?[^\]]*)\]/.exec(part) : null;
  if (set !== null && set[2] !== '') {
    const isIn = members(set[2] ?? '').includes(name[0] ?? '');
    return isIn !== (set[1] !== '') && matches(part.slice(set[0].length), name.slice(1), hasSets);
  }
  return (first === '?' || first === name[0]) && matches(part.slice(1), name.slice(1), hasSets);
}

function members(text: string): string {
  return text.replace(/(.)-(.)/g, (_, low: string, high: string) => {
    let all = '';
    for (let code = low.charCodeAt(0); code <= high.charCodeAt(0); code++) {
      all += String.fromCharCode(code);
    }
    return all;
  });
}
