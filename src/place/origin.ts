/**
 * Where a repository came from, as a name that its clones share: host and path, without protocol,
 * user or password. It is what makes two clones of one project comparable, and it may be shown to
 * others, so a credential in the URL never gets into it [GI4].
 */
import { trimmedEnd } from '../core/law/trimmed-end.ts';
import { isProblem, type Problem } from './problem.ts';
import type { Repository } from './repository.ts';
import { runGit } from './run-git.ts';

/** Null for a repository without a remote named origin, or one whose origin is a folder. */
export async function readOrigin(repository: Repository): Promise<string | null | Problem> {
  const args = ['config', '-z', '--get', 'remote.origin.url'];
  const answer = await runGit(repository.toplevel, args);
  if (isProblem(answer)) return answer;
  return answer.exit === 0 ? parseOrigin(answer.stdout.replace(/\0$/, '')) : null;
}

export function parseOrigin(url: string): string | null {
  const scp = /^(?:[^@/\\]+@)?([^:/\\]{2,}):(?!\/\/)(.+)$/.exec(url);
  if (scp?.[1] !== undefined && scp[2] !== undefined) return join(scp[1], scp[2]);
  if (!/^(https?|ssh|git|ftps?):\/\//i.test(url) || !URL.canParse(url)) return null;
  const { hostname, port, pathname } = new URL(url);
  return join(port === '' ? hostname : `${hostname}:${port}`, pathname);
}

function join(host: string, path: string): string | null {
  const bare = trimmedEnd(path.replace(/^\/+/, ''), '/').replace(/\.git$/, '');
  return bare === '' ? null : `${host.toLowerCase()}/${bare}`;
}
