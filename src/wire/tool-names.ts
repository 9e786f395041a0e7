/**
 * What a tool of ours is called inside each vendor's harness, and back.
 *
 * Every vendor puts the name of the MCP server before the name of the tool, each in its own way.
 * A name counts as ours only after a prefix that names Synod or SOX, or bare: the inbox of some
 * other server is not ours [CD2].
 */
export type Vendor = 'claude' | 'codex' | 'gemini' | 'opencode';

export const VENDORS: readonly Vendor[] = ['claude', 'codex', 'gemini', 'opencode'];

export function isVendor(name: string): name is Vendor {
  return (VENDORS as readonly string[]).includes(name);
}

/** The name under which the server is registered with every vendor. */
export const SERVER_NAME = 'synod';

const PREFIXES: Readonly<Record<Vendor, string>> = {
  claude: `mcp__${SERVER_NAME}__`,
  codex: `mcp__${SERVER_NAME}__`,
  gemini: `mcp_${SERVER_NAME}_`,
  opencode: `${SERVER_NAME}_`,
};

export const RECV_TOOL = 'channels__recv';
export const SEND_TOOL = 'channels__send';

/** `channels__recv` as the model of that vendor must call it. */
export function toolNameFor(vendor: Vendor, tool: string): string {
  return `${PREFIXES[vendor]}${tool}`;
}

/**
 * Under any name a vendor gives it: `mcp__synod__…`, `mcp_synod_…`, `synod_…`, the same with `sox`,
 * and what a plugin makes of it: `mcp__plugin_synod_synod__…`.
 */
export function isRecvTool(name: string): boolean {
  if (!name.endsWith(RECV_TOOL)) return false;
  const prefix = name.slice(0, -RECV_TOOL.length);
  return prefix === '' || /^(?:[A-Za-z0-9-]+_+)*(?:synod|sox)(?:_{1,2}|[./:])$/.test(prefix);
}
