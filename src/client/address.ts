/**
 * Where the hub is and what to show at its door. A browser cannot set headers on a
 * WebSocket, so the credential travels as subprotocols [K1]; the hub picks
 * `synod.v1` and never echoes the rest.
 */
import { SynodError } from './error.ts';

export interface Credential {
  /** An agent's token, or the owner's credential. */
  readonly token?: string | undefined;
  /** Who to be, where the credential leaves that open. */
  readonly agent?: string | undefined;
  readonly space?: string | undefined;
  /** Somebody sits at a keyboard; believed together with the owner's credential. */
  readonly isPerson?: boolean | undefined;
}

export interface Address {
  /** For a WebSocket: `ws://host/ws`. */
  readonly socket: string;
  /** For plain HTTP, without a trailing slash. */
  readonly http: string;
  readonly protocols: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

const PROTOCOL = 'synod.v1';

export function parseAddress(url: string, credential: Credential): Address {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^(http|ws)s?:$/.test(parsed.protocol)) {
    throw new SynodError(
      'input.invalid',
      `${JSON.stringify(url)} is not the address of a hub; give one like http://127.0.0.1:8765`,
    );
  }
  const isSecure = parsed.protocol === 'https:' || parsed.protocol === 'wss:';
  const path = parsed.pathname.replace(/\/+$/, '').replace(/\/ws$/, '');
  const place = `//${parsed.host}${path}`;
  return {
    socket: `${isSecure ? 'wss' : 'ws'}:${place}/ws`,
    http: `${isSecure ? 'https' : 'http'}:${place}`,
    protocols: protocolsOf(credential),
    headers: headersOf(credential),
  };
}

function protocolsOf({ token, agent, space, isPerson }: Credential): string[] {
  const protocols = [PROTOCOL];
  if (token !== undefined) protocols.push(`synod.token.${base64url(token)}`);
  if (agent !== undefined) protocols.push(`synod.agent.${base64url(agent)}`);
  if (space !== undefined) protocols.push(`synod.space.${base64url(space)}`);
  if (isPerson) protocols.push('synod.person');
  return protocols;
}

function headersOf({ token, agent, space, isPerson }: Credential): Record<string, string> {
  return {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(agent !== undefined && { 'x-sox-agent-id': agent }),
    ...(space !== undefined && { 'x-sox-namespace': space }),
    ...(isPerson && { 'x-synod-person': '1' }),
  };
}

function base64url(text: string): string {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
