/**
 * A new config for a bus that runs, from where the first one came. One that cannot be used changes
 * nothing [BD11]; nor does one that would leave TCP without a token to ask for [BD7]. Says
 * in the log what became of it, and never throws.
 */
import type { Bus, BusLogLine } from './bus.ts';
import type { Door } from './door.ts';
import { type ConfigSource, readBusConfig, sourceName } from './read-config.ts';

export interface ReloadOptions {
  readonly bus: Bus;
  readonly door: Pick<Door, 'objection' | 'recheck'>;
  readonly source: ConfigSource;
  readonly log: (level: BusLogLine['level'], text: string) => void;
}

export async function reloadFrom({ bus, door, source, log }: ReloadOptions): Promise<void> {
  const name = sourceName(source);
  if ('fd' in source) {
    return log('warn', `SIGHUP: ${name} was read to its end; there is nothing to reload`);
  }
  try {
    const config = await readBusConfig(source);
    const objection = door.objection(config.clients);
    if (objection !== null) throw new Error(`${name}: clients: ${objection}`);
    for (const warning of config.warnings) log('warn', `${name}: ${warning}`);
    const { added, removed, changed } = await bus.reload(config);
    door.recheck();
    const parts = Object.entries({ added, removed, changed }).flatMap(([what, ids]) =>
      ids.length === 0 ? [] : [`${what} ${ids.join(', ')}`],
    );
    log('info', `reloaded ${name}: ${parts.join('; ') || 'no pool changed'}`);
  } catch (error) {
    log('error', `not reloaded, the old config stays: ${(error as Error).message}`);
  }
}
