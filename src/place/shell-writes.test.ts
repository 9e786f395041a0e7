import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commit, initRepository, tempFolder } from '../../test/place/real-repository.ts';
import { shellWrites } from './shell-writes.ts';

/** A folder with something to write to, as a repository. */
function playground(): string {
  const root = initRepository(tempFolder());
  commit(root, {
    'a.txt': 'one\ntwo\n',
    'b.txt': 'three\n',
    'src/c.txt': 'four\n',
    'src/deep/d.txt': 'five\n',
    "it's.txt": 'six\n',
    '-dash': 'seven\n',
  });
  mkdirSync(join(root, 'empty'));
  writeFileSync(join(root, 'a.txt'), 'one\ntwo\nchanged\n');
  return root;
}

function photograph(root: string, below = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of readdirSync(join(root, below))) {
    const path = below === '' ? name : `${below}/${name}`;
    if (path === '.git') continue;
    const stat = statSync(join(root, path), { throwIfNoEntry: false });
    if (stat?.isDirectory() === true) {
      found.set(path, 'folder');
      for (const [inner, what] of photograph(root, path)) found.set(inner, what);
    } else {
      const what =
        stat === undefined ? 'dangling' : `${stat.mtimeMs} ${readFileSync(join(root, path))}`;
      found.set(path, `${what}`);
    }
  }
  return found;
}

function really(root: string, command: string): string[] {
  const before = photograph(root);
  const { status, stderr } = spawnSync('sh', ['-c', command], {
    cwd: root,
    encoding: 'utf8',
    input: 'in\n',
  });
  expect(status, `${command}: ${stderr}`).toBe(0);
  const after = photograph(root);
  const all = new Set([...before.keys(), ...after.keys()]);
  return [...all].filter((path) => before.get(path) !== after.get(path)).sort();
}

const folderTest = (root: string) => (path: string) =>
  statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() ?? false;

const CERTAIN: readonly (readonly [command: string, writes: readonly string[]])[] = [
  ['echo hi > new.txt', ['new.txt']],
  ['echo hi >> a.txt', ['a.txt']],
  ["echo hi > 'two words.txt'", ['two words.txt']],
  ['echo "a > b" > "quo ted"; cat a.txt', ['quo ted']],
  ["echo hi > it\\'s.txt", ["it's.txt"]],
  ['echo \\> not-a-target', []],
  ["printf 'x > y' # > comment", []],
  ['cat a.txt 2> errors.txt 1>&2', ['errors.txt']],
  ['cat a.txt > /dev/null 2>&1', []],
  ['echo hi >| a.txt', ['a.txt']],
  ['cat < a.txt > copy', ['copy']],
  ['cat a.txt | tee one two | tee -a three > /dev/null', ['one', 'two', 'three']],
  ["sed -i 's/one/1/' a.txt b.txt", ['a.txt', 'b.txt']],
  ["sed -i.bak -e 's/one/1/g' a.txt", ['a.txt', 'a.txt.bak']],
  ["sed -n '1,2p' a.txt", []],
  ["sed -Ei 's|two|2|' -- a.txt", ['a.txt']],
  ['cp a.txt copy.txt', ['copy.txt']],
  ['cp a.txt b.txt src', ['src/a.txt', 'src/b.txt']],
  ['cp a.txt src/', ['src/a.txt']],
  ['cp -t empty a.txt', ['empty/a.txt']],
  ['cp -r src empty', ['empty/src']],
  ['mv a.txt moved.txt', ['a.txt', 'moved.txt']],
  ['mv src empty', ['src', 'empty/src']],
  ['rm a.txt ./b.txt', ['a.txt', './b.txt']],
  ['rm -rf src', ['src']],
  ['rm -- -dash', ['-dash']],
  ['touch -d 2001-01-01 a.txt later', ['a.txt', 'later']],
  ['mkdir -p new/deep', ['new/deep']],
  ['rmdir empty', ['empty']],
  ['ln -s a.txt link', ['link']],
  ['truncate -s 0 a.txt', ['a.txt']],
  ['dd if=a.txt of=out.bin bs=1 2>/dev/null', ['out.bin']],
  ['sort -o sorted a.txt', ['sorted']],
  ['uniq a.txt unique', ['unique']],
  ['git checkout -- a.txt', ['a.txt']],
  ['git restore a.txt', ['a.txt']],
  ['git rm -q -r src', ['src']],
  ['git rm -q --cached b.txt', []],
  ['git mv b.txt src', ['b.txt', 'src/b.txt']],
  ['git status --short && git diff > out.diff', ['out.diff']],
  ['cd src && echo hi > c.txt && rm deep/d.txt', ['src/c.txt', 'src/deep/d.txt']],
  ['FOO=bar command rm a.txt', ['a.txt']],
  ['/bin/rm a.txt', ['a.txt']],
  ['cat <<EOF > doc.txt\nrm $HOME > not-this\nEOF\necho hi > after.txt', ['doc.txt', 'after.txt']],
  ["cat <<-'X' >> doc.txt\n\t$(rm a.txt)\n\tX", ['doc.txt']],
  ['true &&\n  echo hi \\\n  > split.txt', ['split.txt']],
  ['grep -c one a.txt; wc -l a.txt; find . -name "*.txt"', []],
];

test.each(CERTAIN)('[GI17] %s: what it says is what the shell does', (command, writes) => {
  const root = playground();
  const said = shellWrites(command, folderTest(root));
  expect(said).toMatchObject({ isCertain: true, why: null });
  expect(said.writes.map(({ path }) => path)).toEqual(writes);
  const done = really(root, command);
  const clean = said.writes.map(({ path }) => path.replace(/^\.\//, ''));
  const isSaid = (path: string) =>
    // A folder on the way to a new one is made with it.
    clean.some((one) => path === one || path.startsWith(`${one}/`) || one.startsWith(`${path}/`));
  expect(done.filter((path) => !isSaid(path))).toEqual([]);
  const isDone = (path: string) => done.some((one) => one === path || one.startsWith(`${path}/`));
  expect(clean.filter((path) => !isDone(path))).toEqual([]);
});

const DOUBTFUL: readonly (readonly [command: string, writes: readonly string[], why: RegExp])[] = [
  ['npm test > out.txt', ['out.txt'], /npm may write anything/],
  ['python - <<E\nopen("x","w")\nE', [], /python may write/],
  ['bash -c "rm a"', [], /bash/],
  ['rm *.txt keep', ['keep'], /"\*\.txt" is not literal/],
  ['rm "$FILE"', [], /not literal/],
  ['rm ~/x', [], /not literal/],
  ['cp a.txt {b,c}', [], /not literal/],
  ['echo hi > $OUT', [], /not literal/],
  ['echo $(rm a.txt) > b', [], /substituted/],
  ['echo `rm a.txt`', [], /substituted/],
  ['echo "$(rm a.txt)" > b', [], /substituted/],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's, not ours
  ['echo ${A:-$(rm x)}', [], /substituted/],
  ['cat <<E > x\n$(rm a)\nE\n', [], /here-document/],
  ['diff <(cat a) b', [], /process/],
  ['(cd src && rm c.txt)', [], /subshell/],
  ['f() { rm a; }', [], /function/],
  ['rm first; for f in *; do rm "$f"; done', ['first'], /compound/],
  ['if true; then rm a; fi', [], /compound/],
  ['[[ a > b ]]', [], /compound/],
  ['cd "$D" && rm a.txt /abs/b', ['/abs/b'], /depends on the folder/],
  ['cd src; rm c.txt', [], /depends on the folder/],
  ['cd src\nrm c.txt', [], /depends on the folder/],
  ['true || cd src && rm c.txt', [], /depends on the folder/],
  ['cd src && ls || rm c.txt', [], /depends on the folder/],
  ['cd .. && rm x', [], /depends on the folder/],
  ['pushd src && rm x', [], /pushd/],
  ['eval "rm a"', [], /eval/],
  ['alias rm=ls; rm a', [], /alias/],
  ['xargs rm < list', [], /xargs/],
  ['find . -name x -delete', [], /-delete/],
  ['find . $ARGS', [], /may write/],
  ['sed -i "s/a/b/w other" a.txt', ['a.txt'], /script of sed/],
  ['sed -i -f script a.txt', [], /script of sed/],
  ['sed "w x" a.txt', [], /script of sed/],
  ["sed -i 's/a/b/' *.ts", [], /not literal/],
  ['patch -p1 < x.diff', [], /named in the patch/],
  ['git checkout main', [], /branch or a file/],
  ['git checkout -- "*.ts" a', ['a'], /pattern/],
  ['git stash', [], /git stash/],
  ['git reset --hard', [], /git reset/],
  ['git -C other rm a', [], /git -C/],
  ['git diff --output=x', [], /--output/],
  ['cp --backup a b', [], /--backup/],
  ['cp -r src/. empty/', [], /no name/],
  ['mkdir d && cp a.txt d', ['d'], /may or may not/],
  ['make && cp a.txt b.txt', [], /make may write/],
  ['dd $ARGS', [], /not literal/],
  ['echo "unclosed > x', [], /quote/],
  ['echo hi >', [], /nowhere/],
  ['cat <<E\nnever ends', [], /no end/],
  ['sudo -u ada rm x', [], /-u/],
  ['exec 3> x', ['x'], /exec/],
];

test.each(DOUBTFUL)(
  '[GI17] %s: only what is certain is said, and why there may be more',
  (command, writes, why) => {
    const said = shellWrites(command, () => false);
    expect(said.isCertain).toBe(false);
    expect(said.why).toMatch(why);
    expect(said.writes.map(({ path }) => path)).toEqual(writes);
  },
);

test('[GI17] a command without end is not read', () => {
  expect(shellWrites(`rm a;${'x'.repeat(70_000)}`)).toMatchObject({ writes: [], isCertain: false });
});

test('[GI17] without knowing the disk, a copy to one name is not certain', () => {
  expect(shellWrites('cp a b')).toMatchObject({ writes: [], isCertain: false });
  expect(shellWrites('cp -T a b')).toMatchObject({ isCertain: true });
  expect(shellWrites('cp a b c')).toMatchObject({ isCertain: true });
});

test('[GI17] how far a write reaches, and whether a link is followed', () => {
  const reach = (command: string) =>
    shellWrites(command, () => false).writes.map(
      ({ reach, isFollowed }) => `${reach} ${isFollowed}`,
    );
  expect(reach('echo > a')).toEqual(['file true']);
  expect(reach('rm a')).toEqual(['file false']);
  expect(reach('rm -r a')).toEqual(['tree false']);
  expect(reach('mkdir a')).toEqual(['folder true']);
  expect(reach('mv a b')).toEqual(['tree false', 'tree true']);
});

test('[GI17] nothing that can be typed makes it throw or hang', () => {
  const pieces = [
    '"',
    "'",
    '$',
    '`',
    '(',
    ')',
    '{',
    '}',
    '<<',
    'E',
    '\n',
    '>',
    '&',
    '|',
    ';',
    ' ',
    '\\',
    '#',
    'rm',
    'sed -i',
    'cd',
  ];
  let seed = 7;
  const chance = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed;
  };
  for (let i = 0; i < 5_000; i++) {
    const text = Array.from({ length: chance() % 12 }, () => pieces[chance() % pieces.length]).join(
      '',
    );
    const said = shellWrites(text, () => false);
    expect(said.isCertain).toBe(said.why === null);
  }
  for (const script of [
    's/a/b/;'.repeat(5_000),
    '1'.repeat(50_000),
    ' '.repeat(50_000),
    '/a'.repeat(20_000),
  ]) {
    expect(shellWrites(`sed -i '${script}x' f`).writes).toHaveLength(1);
  }
});
