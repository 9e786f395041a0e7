#!/usr/bin/env node
/**
 * The MCP server under the name of SOX's own, so that a client's configuration written for it finds
 * this one: `synod mcp` with SOX's tools, under SOX's name.
 */
process.argv.splice(2, 0, 'mcp', '--tools', 'sox');
void import('./synod.js');
