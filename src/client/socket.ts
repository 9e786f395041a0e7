/**
 * What the client needs of a WebSocket: the browser's, Node's and that of the `ws`
 * package all have it. Whoever must set headers or go over a Unix socket passes
 * an `openSocket` of their own.
 */
export interface Socket {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'close', listener: (event: SocketClosed) => void): void;
  addEventListener(type: 'error', listener: (event: { readonly message?: unknown }) => void): void;
}

export interface SocketClosed {
  readonly code: number;
  readonly reason: string;
}

export type OpenSocket = (url: string, protocols: readonly string[]) => Socket;

export const openGlobalSocket: OpenSocket = (url, protocols) =>
  new WebSocket(url, [...protocols]) as Socket;
