/** What the hub says about itself goes here, a line at a time; an unexpected error comes with its cause [SV5]. */
import type { PluginLog } from '../plugins/registry.ts';

export type ServerLog = PluginLog;
