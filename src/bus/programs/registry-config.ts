/**
 * The config file of the reference's registry launcher: where the registry and the keys are, and how
 * long agents get to end. Keys that begin with `_` are its comments; a value of the wrong kind is
 * refused by name, and a key that is not known told.
 */
import { isObject } from '../process/json-object.ts';
import { meantWord } from '../process/misspelt.ts';
import { ProgramConfigError, quoted } from './program-error.ts';

export interface LauncherConfig {
  readonly registryUrl: string | null;
  readonly apiKeysPath: string | null;
  readonly customAgentsPath: string | null;
  readonly shutdownTimeoutSec: number;
}

const TEXTS = ['registryUrl', 'apiKeysPath', 'customAgentsPath'] as const;
const KNOWN: readonly string[] = [...TEXTS, 'shutdownTimeoutSec'];
const SHUTDOWN_SEC = 5;
const SHUTDOWN_SEC_MAX = 3_600;

export function parseLauncherConfig(
  value: unknown,
  source: string | undefined,
  note: (text: string) => void,
): LauncherConfig {
  const refuse = (what: string): never => {
    throw new ProgramConfigError(`${source}: ${what}`);
  };
  if (!isObject(value)) return refuse('must be an object with registryUrl');
  for (const key of Object.keys(value)) {
    if (key.startsWith('_') || KNOWN.includes(key)) continue;
    const meant = meantWord(key, KNOWN);
    const hint = meant === null ? `; there are ${KNOWN.join(', ')}` : `; did you mean ${meant}?`;
    note(`${source}: ${quoted(key)} is not known and has no effect${hint}`);
  }
  const textOf = (name: (typeof TEXTS)[number]): string | null => {
    const given = value[name];
    if (given === undefined) return null;
    return typeof given === 'string' && given !== ''
      ? given
      : refuse(`${name} must be a text that is not empty`);
  };
  const { shutdownTimeoutSec = SHUTDOWN_SEC } = value;
  const seconds = Number(shutdownTimeoutSec);
  if (typeof shutdownTimeoutSec !== 'number' || !(seconds > 0 && seconds <= SHUTDOWN_SEC_MAX)) {
    return refuse(`shutdownTimeoutSec must be a number above 0, up to ${SHUTDOWN_SEC_MAX}`);
  }
  return {
    registryUrl: textOf('registryUrl'),
    apiKeysPath: textOf('apiKeysPath'),
    customAgentsPath: textOf('customAgentsPath'),
    shutdownTimeoutSec: seconds,
  };
}
