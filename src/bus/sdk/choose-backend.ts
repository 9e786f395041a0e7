/**
 * Which backend the options mean, checked as a whole. `auto` is the bus in this process, or the
 * socket when an address is given; a container is used only when it is asked for by name.
 */
import type { Backend } from './backend.ts';
import { type BusDocument, readDocument } from './bus-document.ts';
import { DockerBackend } from './docker.ts';
import { EmbeddedBackend } from './embedded.ts';
import { InvalidArgumentError } from './errors.ts';
import type { EmbeddedOptions, SocketOptions, StdioBusOptions } from './options.ts';
import { SocketBackend } from './socket.ts';
import { BackendMode, ListenMode } from './states.ts';
import { SubprocessBackend } from './subprocess.ts';

const PORT_MAX = 65_535;
const MODES: ReadonlySet<unknown> = new Set(Object.values(BackendMode));
const LISTEN_MODES: ReadonlySet<unknown> = new Set(Object.values(ListenMode));

export function chooseBackend(options: StdioBusOptions): Backend {
  const { backend = 'auto', embedded = {}, socket } = options;
  if (typeof backend === 'object') return backend;
  if (!MODES.has(backend)) {
    const known = Object.values(BackendMode).join(', ');
    throw new InvalidArgumentError(`backend is "${String(backend)}"; use one of ${known}`);
  }
  const chosen = chosenOf(backend, socket);
  const isListening = (embedded.listenMode ?? 'none') !== 'none';
  if (chosen !== 'embedded' && isListening) {
    throw new InvalidArgumentError(
      `only the embedded backend listens; with "${chosen}" leave out embedded.listenMode`,
    );
  }
  if (chosen === 'socket') return joinSocket(options);
  if (socket !== undefined) {
    throw new InvalidArgumentError(`backend "${chosen}" joins no bus: leave out "socket"`);
  }
  const config = configOf(options);
  const hasFunctions = !('path' in config) && config.functions.size > 0;
  if (chosen !== 'embedded' && hasFunctions) {
    throw new InvalidArgumentError(
      `functions run in this process, so the backend must be "embedded", not "${chosen}"`,
    );
  }
  if (chosen === 'subprocess') return new SubprocessBackend(config, options.subprocess ?? {});
  if (chosen === 'docker') return new DockerBackend(config, options.docker ?? {});
  checkListener(embedded);
  return new EmbeddedBackend({ config, options: embedded });
}

function chosenOf(
  backend: BackendMode,
  socket: SocketOptions | undefined,
): 'embedded' | 'subprocess' | 'socket' | 'docker' {
  if (backend === 'native') return 'embedded';
  if (backend !== 'auto') return backend;
  return socket === undefined ? 'embedded' : 'socket';
}

function configOf(options: StdioBusOptions): BusDocument | { readonly path: string } {
  const { config, configPath, functions } = options;
  if (config !== undefined && configPath !== undefined) {
    throw new InvalidArgumentError('config and configPath are both given; leave one of them out');
  }
  if (configPath !== undefined) {
    if (functions !== undefined) {
      throw new InvalidArgumentError('functions need a config object in place of configPath');
    }
    return { path: configPath };
  }
  if (config === undefined && functions === undefined) {
    throw new InvalidArgumentError('give config, configPath or functions, or a socket to join');
  }
  return readDocument(config ?? {}, functions ?? {});
}

function joinSocket(options: StdioBusOptions): Backend {
  const { socket = {} } = options;
  for (const name of ['config', 'configPath', 'functions'] as const) {
    if (options[name] === undefined) continue;
    throw new InvalidArgumentError(
      `a running bus has its own config: leave out "${name}" with the socket backend`,
    );
  }
  const { unixPath, tcpPort } = socket;
  if ((unixPath === undefined) === (tcpPort === undefined)) {
    throw new InvalidArgumentError('the socket needs either unixPath or tcpPort');
  }
  if (tcpPort !== undefined) checkPort('socket.tcpPort', tcpPort);
  return new SocketBackend(socket);
}

function checkListener({ listenMode = 'none', tcpPort, unixPath }: EmbeddedOptions): void {
  if (!LISTEN_MODES.has(listenMode)) {
    throw new InvalidArgumentError(`listenMode is "${String(listenMode)}"; use none, tcp or unix`);
  }
  if (listenMode === 'tcp') checkPort('embedded.tcpPort', tcpPort);
  if (listenMode === 'unix' && unixPath === undefined) {
    throw new InvalidArgumentError('listenMode "unix" needs embedded.unixPath');
  }
}

function checkPort(name: string, port: unknown): void {
  if (typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= PORT_MAX) return;
  throw new InvalidArgumentError(
    `${name} is ${String(port)}; use a whole number from 1 to ${PORT_MAX}`,
  );
}
