/**
 * What stands before a program in the sandbox when its policy allows connections: the sandbox has no network
 * but its own loopback, so this listens there, passes every byte on to the socket of the guard, and runs the
 * program with the variables by which programs find a proxy. Plain JavaScript, for `node -e`: the sandbox
 * has nothing of ours in it.
 */

/** Where the sandbox sees the folder with the guard's socket. */
export const RELAY_DIR = '/run/synod-guard';

export const RELAY_SCRIPT: string = `
const net = require('node:net');
const { spawn } = require('node:child_process');
const [program, ...args] = process.argv.slice(1);
const server = net.createServer((near) => {
  const far = net.connect('${RELAY_DIR}/egress.sock');
  const end = () => { near.destroy(); far.destroy(); };
  near.on('error', end).on('close', end);
  far.on('error', end).on('close', end);
  near.pipe(far).pipe(near);
});
server.listen(0, '127.0.0.1', () => {
  const proxy = 'http://127.0.0.1:' + server.address().port;
  const env = { ...process.env, NODE_USE_ENV_PROXY: '1' };
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy']) env[name] = proxy;
  for (const name of ['NO_PROXY', 'no_proxy', 'ALL_PROXY', 'all_proxy']) delete env[name];
  const child = spawn(program, args, { stdio: 'inherit', env });
  child.on('error', (error) => { console.error(error.message); process.exit(127); });
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 128));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
});
`;
