#!/usr/bin/env node
/**
 * The executable: finds a Node that can run Synod, then runs it.
 *
 * It is written so that Node 12 can still read it, and so say what is missing: no `node:` imports,
 * no `?.`, no top-level await. In a checkout with its own Node (npm's package `node`) it goes on with
 * that one. There the sources run as they are, unless the program was built of just these, which starts
 * in half the time; everywhere else it is the built one.
 */
// biome-ignore-all lint/style/useNodejsImportProtocol: a Node that must read this may not know it.
import * as nodeModule from 'module';

// What an import brings is brought whole, and most of it is for a way that is not taken.
const require = nodeModule.createRequire(import.meta.url);
const { existsSync, readFileSync, statSync } = require('fs');
const { join } = require('path');
const { fileURLToPath, pathToFileURL } = require('url');

const NODE_MAJOR_MIN = 24;
const LAST_WAIT_MS = 1000;
const PROGRAMS = new Map([
  ['serve', 'hub.js'],
  ['mcp', 'mcp.js'],
]);
const root = fileURLToPath(new URL('..', import.meta.url));

function majorOf(version) {
  return Number(version.trim().replace(/^v/, '').split('.')[0]);
}

/** The checkout's own Node, when there is one and it is new enough: its package says so, and sooner than it would. */
function findBundledNode() {
  const path = join(root, 'node_modules', '.bin', 'node');
  const said = join(root, 'node_modules', 'node', 'package.json');
  if (!existsSync(path) || !existsSync(said)) return null;
  const { version } = JSON.parse(readFileSync(said, 'utf8'));
  return majorOf(version) >= NODE_MAJOR_MIN ? path : null;
}

/** What `--config-fd` names must be passed on by hand; nothing else beyond stderr is. */
function passedDescriptor() {
  const at = process.argv.findIndex((one) => one.startsWith('--config-fd'));
  if (at === -1) return null;
  const said = process.argv[at].slice('--config-fd='.length) || process.argv[at + 1];
  const descriptor = Number(said);
  return descriptor > 2 && descriptor <= 1024 ? descriptor : null;
}

/**
 * Goes on with another Node, as its parent. It holds one end of a pipe, the lifeline: when it is
 * killed, however hard, the pipe closes, and the other one ends as well.
 */
function continueWith(node) {
  const { spawn } = require('child_process');
  const self = fileURLToPath(import.meta.url);
  const passed = passedDescriptor();
  const stdio = ['inherit', 'inherit', 'inherit'];
  while (passed !== null && stdio.length < passed) stdio.push('ignore');
  if (passed !== null) stdio.push('inherit');
  const env = Object.assign({}, process.env, { SYNOD_LIFELINE_FD: String(stdio.length) });
  stdio.push('pipe');
  const child = spawn(node, [self, ...process.argv.slice(2)], { stdio, env });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both of us; a second one would mean impatience.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    process.stderr.write(`node.unusable: ${node} does not start: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    for (const each of signals) process.removeAllListeners(each);
    process.kill(process.pid, signal);
  });
}

function refuse() {
  process.stderr.write(
    `node.too-old: synod needs Node ${NODE_MAJOR_MIN} or newer, and this is ${process.version}.
In a checkout run "npm install" first: it brings the Node that bin/synod.js then uses.
Elsewhere install a newer Node from https://nodejs.org, or run it with one for this time:
  npx -y node@${NODE_MAJOR_MIN} ${fileURLToPath(import.meta.url)}
`,
  );
  process.exitCode = 1;
}

/** The parent is gone: ends as a signal would, and the second time without waiting. */
function holdLifeline() {
  const descriptor = Number(process.env.SYNOD_LIFELINE_FD);
  delete process.env.SYNOD_LIFELINE_FD;
  if (!(descriptor > 2)) return;
  const { Socket } = require('net');
  const line = new Socket({ fd: descriptor, readable: true, writable: false });
  const end = () => process.kill(process.pid, 'SIGTERM');
  line.on('error', () => {});
  line.on('close', () => {
    end();
    setTimeout(end, LAST_WAIT_MS).unref();
  });
  line.resume();
  line.unref();
}

/**
 * Whether the program was built of the sources as they are: of none that was changed since, or was added or
 * taken away. The build wrote down which there are, and of which each command is made: looking at all takes as
 * long as all of a short one.
 */
function isNewest(built) {
  const list = join(root, 'dist', 'program', 'sources.json');
  if (!existsSync(built) || !existsSync(list)) return false;
  const builtAt = statSync(built).mtimeMs;
  const { folders, files, commands } = JSON.parse(readFileSync(list, 'utf8'));
  const isOlder = (name) => {
    const found = statSync(`${root}src/${name}`, { throwIfNoEntry: false });
    return found !== undefined && found.mtimeMs <= builtAt;
  };
  const command = process.argv[2] || 'serve';
  // Anybody may type "constructor".
  const own = Object.hasOwn(commands, command);
  const needed = own ? commands[command].map((at) => files[at]) : files;
  return folders.every(isOlder) && needed.every(isOlder);
}

function run() {
  holdLifeline();
  const source = join(root, 'src', 'cli', 'main.ts');
  const isCheckout = existsSync(source);
  // Compiled code is kept where only this user writes; the default is a directory shared by all. A
  // checkout keeps its own, whoever's home it is run in: stripping types is most of a cold start.
  const cache = isCheckout
    ? join(root, 'node_modules', '.cache')
    : process.env.XDG_CACHE_HOME || join(require('os').homedir(), '.cache');
  if (nodeModule.enableCompileCache)
    nodeModule.enableCompileCache(join(cache, 'synod', 'compiled'));
  // The same program thrice: for a hub and for an agent's bridge to it in few files, for commands in many.
  const built = join(
    root,
    'dist',
    'program',
    PROGRAMS.get(process.argv[2] || 'serve') || 'main.js',
  );
  const main = isCheckout && !isNewest(built) ? source : built;
  return import(pathToFileURL(main).href).then((cli) => cli.main(process.argv.slice(2)));
}

if (majorOf(process.version) >= NODE_MAJOR_MIN) {
  run().catch((error) => {
    process.stderr.write(`internal: synod does not start: ${error.message}\n`);
    process.exitCode = 70;
  });
} else {
  const bundled = findBundledNode();
  if (bundled === null) refuse();
  else continueWith(bundled);
}
