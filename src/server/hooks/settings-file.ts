/**
 * `policy.toml` on disk. The file is read again when it changes. A mistake in it is reported once and
 * names the field; until it is mended the last good settings stand, or the defaults [HD7].
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  DEFAULT_DOOR_SETTINGS,
  type DoorSettings,
  type Environment,
  isSettings,
  parseDoorSettings,
} from '../../wire/hook-settings.ts';

/** How often the file is looked at. */
const LOOK_EVERY_MS = 1_000;

/** `<dir>/policy.toml`, else the one in SOX_CONFIG_DIR. A mistake in it has no cause (null). */
export function openDoorSettings(
  dir: string,
  env: Environment,
  onTrouble: (what: string, cause: unknown) => void,
  now: () => number = Date.now,
): () => DoorSettings {
  const places = [dir, ...(env.SOX_CONFIG_DIR ? [env.SOX_CONFIG_DIR] : [])];
  const paths = places.map((place) => join(place, 'policy.toml'));
  let settings = DEFAULT_DOOR_SETTINGS;
  let stamp: string | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;

  function look(): void {
    const found = paths
      .map((path) => ({ path, stat: statSync(path, { throwIfNoEntry: false }) }))
      .find(({ stat }) => stat !== undefined);
    const seen =
      found === undefined ? '' : `${found.path} ${found.stat?.mtimeMs} ${found.stat?.size}`;
    if (seen === stamp) return;
    stamp = seen;
    const parsed = parseDoorSettings(
      found === undefined ? null : readFileSync(found.path, 'utf8'),
      env,
    );
    if (isSettings(parsed)) settings = parsed;
    else onTrouble(`${found?.path ?? 'the environment'}: ${parsed.join('; ')}`, null);
  }

  return () => {
    if (now() - lookedAt < LOOK_EVERY_MS) return settings;
    lookedAt = now();
    try {
      look();
    } catch (cause) {
      onTrouble('policy.toml cannot be read; what was set before stands', cause);
    }
    return settings;
  };
}
