/** `synod/server`: the hub inside another program. */
export { createPluginRegistry, type PluginRegistry } from '../plugins/registry.ts';
export { type Config, type ConfigProblem, parseConfig } from './config.ts';
export {
  type Clock,
  type EmbeddedHub,
  type EmbeddedOptions,
  openEmbeddedHub,
} from './embedded.ts';
export { type RunningServer, type ServerHooks, startServer } from './server.ts';
export type { ServerLog } from './server-log.ts';
