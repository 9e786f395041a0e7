/**
 * The official ACP library, loaded only by the programs that speak ACP. It is an optional peer:
 * who does not use these programs need not install it, and who does is told its name.
 */
import { messageOfError, ProgramConfigError } from './program-error.ts';

export type AcpSdk = typeof import('@agentclientprotocol/sdk');

export async function loadAcpSdk(): Promise<AcpSdk> {
  try {
    return await import('@agentclientprotocol/sdk');
  } catch (cause) {
    throw new ProgramConfigError(
      `this worker needs the package @agentclientprotocol/sdk, which does not load: ${messageOfError(cause)}; run: npm install @agentclientprotocol/sdk`,
      { cause },
    );
  }
}
