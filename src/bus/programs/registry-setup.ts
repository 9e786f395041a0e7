/**
 * `--setup` at a terminal: asks which agent gets a key or a login, and how, until there is no more to set
 * up. A key is typed unseen; what was given is kept at once, and a login that fails costs nothing else.
 */
import type { LoginsFile } from './logins-file.ts';
import { type LoginRequest, makeLogin } from './oauth-logins.ts';
import { PROVIDERS } from './oauth-provider.ts';
import { messageOfError } from './program-error.ts';
import { type Keys, withVariable } from './registry-keys.ts';

/** A person at a terminal. */
export interface Person {
  say(line: string): void;
  /** Null when there is no more input. */
  ask(question: string): Promise<string | null>;
  /** The same, and what is typed is not shown. */
  askUnseen(question: string): Promise<string | null>;
  close(): void;
}

export interface SetupWorld {
  readonly keys: Keys;
  readonly writeKeys: (keys: Keys) => Promise<void>;
  readonly logins: LoginsFile;
  readonly env: LoginRequest['env'];
  /** Refuses where no page can be shown. */
  readonly open: () => LoginRequest['open'];
  /** Agents of the registry; empty when none was given, and then any name will do. */
  readonly known: readonly string[];
}

const LISTED_MAX = 40;

export async function runSetup(world: SetupWorld, person: Person): Promise<void> {
  const { known } = world;
  if (known.length > 0) {
    const more = known.length > LISTED_MAX ? ` and ${known.length - LISTED_MAX} more` : '';
    person.say(`agents: ${known.slice(0, LISTED_MAX).join(', ')}${more}`);
  }
  let { keys } = world;
  for (;;) {
    const agent = await person.ask('agent to set up (Enter: no more): ');
    if (agent === null || agent === '') return;
    if (known.length > 0 && !known.includes(agent)) {
      person.say(`the registry has no agent ${JSON.stringify(agent)}`);
      continue;
    }
    const way = await person.ask('a key (1) or a login in the browser (2)? [1] ');
    if (way === null) return;
    if (way === '2') await logIn(world, person, agent);
    else if (way === '1' || way === '') keys = await giveKey(world, person, agent, keys);
    else person.say('1 or 2');
  }
}

async function giveKey(
  world: SetupWorld,
  person: Person,
  agent: string,
  keys: Keys,
): Promise<Keys> {
  const variable = await person.ask(
    'the variable the agent reads it from, such as OPENAI_API_KEY: ',
  );
  if (variable === null || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable)) {
    person.say('a variable is letters, digits and _; nothing was kept');
    return keys;
  }
  const value = await person.askUnseen('the key (not shown): ');
  if (value === null || value === '') {
    person.say('it was empty; nothing was kept');
    return keys;
  }
  const kept = withVariable(keys, agent, variable, value);
  await world.writeKeys(kept);
  person.say(`${agent} gets ${variable}`);
  return kept;
}

async function logIn(world: SetupWorld, person: Person, agent: string): Promise<void> {
  const known = Object.entries(PROVIDERS).find(([, agents]) => agents.includes(agent))?.[0];
  const hint = known === undefined ? '' : ` [${known}]`;
  const said = await person.ask(`where: ${Object.keys(PROVIDERS).join(', ')}?${hint} `);
  const provider = said === '' ? (known ?? '') : said;
  if (provider === null) return;
  try {
    const { logins, env } = world;
    const open = world.open();
    const how = await logins.trySeal();
    await makeLogin(logins, { provider, agents: [agent], env, open });
    person.say(`logged in at ${provider} for ${agent}; ${how}`);
  } catch (error) {
    person.say(messageOfError(error));
  }
}
