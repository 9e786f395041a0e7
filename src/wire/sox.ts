/** The names SOX 1.0 gives its operations and its MCP server, for a client that asks for exactly those. */

export const SOX_OPERATIONS = [
  'send',
  'recv',
  'subscribe',
  'unsubscribe',
  'list_channels',
  'list_agents',
  'channels_ack',
  'channels_heartbeat',
  'replay',
  'channels_collect',
  'group_create',
  'group_invite',
  'group_join',
  'group_leave',
  'group_list_members',
] as const;

/** How its MCP server introduces itself; clients register it as `sox`. */
export const SOX_SERVER_NAME = 'sox-protocol';

export const SOX_PROTOCOL_VERSION = '1.0';
