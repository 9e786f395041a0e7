/**
 * A prompt as text, for brains that read nothing else: text as it is, everything else described in
 * square brackets. Nothing is fetched here; a link stays a link.
 */
import type { ContentBlock } from '@agentclientprotocol/sdk';

export function promptText(prompt: readonly ContentBlock[]): string {
  return prompt.map(blockText).join('\n');
}

export function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
      return `[image ${block.mimeType}, ${byteCount(block.data)} bytes]`;
    case 'audio':
      return `[audio ${block.mimeType}, ${byteCount(block.data)} bytes]`;
    case 'resource_link':
      return `[resource link ${block.name}: ${block.uri}]`;
    case 'resource': {
      const { resource } = block;
      return 'text' in resource
        ? `[resource ${resource.uri}]\n${resource.text}`
        : `[resource ${resource.uri}, ${byteCount(resource.blob)} bytes]`;
    }
    default:
      return '[content of an unknown kind]';
  }
}

function byteCount(base64: string): number {
  return Buffer.byteLength(base64, 'base64');
}
