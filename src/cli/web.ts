/**
 * `synod web`: opens the page for the person at this machine, by a link that is good once. Where there is
 * no browser, and with `--print`, the link is printed. `synod web sessions` says which browsers are in.
 */
import type { Command } from 'commander';
import { startHub } from '../client/node/start-hub.ts';
import { chosenAgent, dataDirectory, defaultAgent, type Globals } from '../client/node/target.ts';
import { type Context, handle } from './context.ts';
import { fail } from './failure.ts';
import { clockTime } from './message-text.ts';
import { hasBrowser, showPage } from './open-page.ts';

interface WebFlags extends Globals {
  readonly print?: boolean;
  readonly phone?: boolean;
  readonly host?: string;
  readonly port?: string;
  readonly stop?: boolean;
  /** Commander makes `--no-spawn` out of it. */
  readonly spawn?: boolean;
}

export function registerWeb(program: Command): void {
  const web = program
    .command('web')
    .description('the page for people: opens it in a browser; starts the hub when none runs')
    .option('--print', 'print the link; it is good once, and for one minute')
    .option('--phone', 'serve the page to a phone on this network, until ctrl-c; shows a QR code')
    .option('--host <address>', 'with --phone: the address of this machine that a phone can reach')
    .option('--port <port>', 'with --phone: the port; the hub’s, if it is free there')
    .option('--stop', 'with --phone: end it')
    .option('--no-spawn', 'do not start a hub');
  handle<WebFlags>(web, async (context) => {
    const { flags } = context;
    const isElsewhere = Boolean(flags.url ?? process.env.SYNOD_URL);
    if (flags.spawn !== false && !isElsewhere) {
      await startHub(dataDirectory(flags.dir, process.env));
    }
    if (!flags.phone && (flags.host ?? flags.port ?? flags.stop) !== undefined) {
      throw fail('cli.usage', '--host, --port and --stop go with --phone');
    }
    if (!flags.phone) return openWindow(context);
    const { closePhone, servePhone } = await import('./web-phone.ts');
    await (flags.stop ? closePhone(context) : servePhone(context, await personName(context)));
  });
  const sessions = web.command('sessions').description('browsers that came in by a link');
  handle(sessions, async ({ call, table }) => {
    const answer = await call('web.sessions', {});
    const rows = answer.sessions.map((one) => [
      one.session_id,
      one.name,
      one.device ?? '',
      `since ${clockTime(one.created_at)}`,
      `until ${clockTime(one.expires_at)}`,
    ]);
    table(answer, rows, 'no browser is in: synod web');
  });
  const revoke = sessions
    .command('revoke')
    .description('that browser is out at once')
    .argument('<session-id>');
  handle(revoke, async ({ args, call, say }) => {
    const [session_id = ''] = args;
    const answer = await call('web.revoke', { session_id });
    say(answer, answer.revoked ? `${session_id} is out` : `${session_id} was out before`);
  });
}

/** Who sits there: whom the flags name, the one person of the space (which the hub knows), or this user. */
async function personName({ call, flags }: Context<WebFlags>): Promise<string | undefined> {
  const { people } = await call('people.list', {});
  return chosenAgent(flags) ?? (people.length === 1 ? undefined : defaultAgent());
}

async function openWindow(context: Context<WebFlags>): Promise<void> {
  const { call, flags, isJson, show, remark } = context;
  const link = await call('web.link', { name: await personName(context) });
  const { env, stderr } = process;
  if (isJson || flags.print || !hasBrowser(env, stderr.isTTY)) {
    remark(`for ${link.name}, once, until ${clockTime(link.expires_at)}:`);
    show(link, () => [link.url]);
    return;
  }
  showPage(env, link.url);
  const { origin } = new URL(link.url);
  remark(`opening ${origin} for ${link.name}; if no page opens: synod web --print`);
}
