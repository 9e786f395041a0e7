/** Gemini CLI and opencode: agents that speak ACP, with what each needs so that it asks before it acts. */
import { AcpClient, type AcpClientOptions } from './acp-client.ts';
import { AgentClientError } from './agent-client.ts';

/**
 * Gemini CLI as a program speaks with it. It cannot fork a session yet, and says so.
 *
 * @example
 * await using gemini = new GeminiClient({ hub, model: 'gemini-2.5-pro', inheritEnv: ['GEMINI_API_KEY'] });
 * const session = await gemini.start();
 */
export class GeminiClient extends AcpClient {
  constructor(options: AcpClientOptions = {}) {
    const model = options.model === undefined ? [] : ['-m', options.model];
    super('Gemini CLI', [...(options.command ?? ['gemini', '--acp']), ...model], options);
  }
}

/** What it would do unasked otherwise: opencode allows everything that its settings do not mention. */
const ASKS = { edit: 'ask', bash: 'ask', webfetch: 'ask', external_directory: 'ask' };

/**
 * opencode as a program speaks with it. Its model is named in its own settings.
 *
 * @example
 * await using opencode = new OpencodeClient({ hub, cwd: 'project' });
 * const session = await opencode.start();
 */
export class OpencodeClient extends AcpClient {
  constructor(options: AcpClientOptions = {}) {
    if (options.model !== undefined) {
      const words = 'opencode takes its model from its own settings (opencode.json)';
      throw new AgentClientError('vendor.invalid', words);
    }
    const env = { OPENCODE_PERMISSION: JSON.stringify(ASKS), ...options.env };
    super('opencode', options.command ?? ['opencode', 'acp'], { ...options, env });
  }
}
