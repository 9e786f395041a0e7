/**
 * What a policy names outright, as questions to a guard: so that who calls an integration without the leave
 * for what it needs is refused before it runs. What stands there with a wildcard is asked when it is done.
 */
import type { GuardRequest } from '../../guard/decision.ts';
import type { Policy } from '../../guard/policy.ts';
import { parsePolicy } from '../../guard/policy.ts';

export function needsOf(policy: Policy): GuardRequest[] {
  const { read, write, delete: del, execute, connect } = parsePolicy(policy);
  const paths = (kind: 'read' | 'write' | 'delete', list: readonly string[]): GuardRequest[] =>
    list.map((path) => ({ kind, path }));
  const programs = execute
    .filter(({ args = [] }) => !args.some((arg) => arg.includes('*')))
    .map(({ program, args = [] }): GuardRequest => ({ kind: 'execute', program, args }));
  const addresses = connect
    .filter(({ host }) => !host.includes('*'))
    .flatMap(({ scheme, host, port, methods = ['GET', 'HEAD'] }) => {
      const url = `${scheme}://${host.includes(':') ? `[${host}]` : host}${port === undefined ? '' : `:${port}`}`;
      const isHttp = scheme === 'http' || scheme === 'https';
      const named = isHttp ? methods.filter((method) => method !== '*') : ['GET'];
      return named.map((method): GuardRequest => ({ kind: 'connect', url, method }));
    });
  return [
    ...[...paths('read', read), ...paths('write', write), ...paths('delete', del)],
    ...[...programs, ...addresses],
  ];
}
