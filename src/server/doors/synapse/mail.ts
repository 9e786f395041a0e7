/**
 * What a socket was shown is marked as read, so that receipts are true and no inbox fills up
 * behind it. What lay on the same dm from before the socket came is shown now.
 */
import { parseMessageId } from '../../../core/talk/message-id.ts';
import type { OutputOf } from '../../../wire/operation.ts';
import { recv } from '../../../wire/operations/channels.ts';
import type { Desk } from '../../desk/desk.ts';
import { chatFrame } from './chat-body.ts';
import type { SynapseClient } from './client.ts';
import type { Speech } from './speech.ts';

const MESSAGES_MAX = 500;

export async function readMail(desk: Desk, speech: Speech, client: SynapseClient): Promise<void> {
  const { caller, mail, boundAt } = client;
  if (caller === null || mail.size === 0) return;
  const channels = [...mail];
  mail.clear();
  const answer = await desk.call(caller, recv, {
    channels,
    max_messages: MESSAGES_MAX,
    include_meta: false,
  });
  if ('error' in answer) return;
  const { messages } = answer.ok as OutputOf<typeof recv>;
  for (const { message_id, channel, sender, sent_at, body } of messages) {
    const position = parseMessageId(message_id ?? '');
    if (position === null || position >= boundAt || !channel.startsWith('dm/')) continue;
    const spoken = { by: sender, at: sent_at * 1000, position, body };
    client.peer.send(speech.relay(chatFrame(spoken, client.name)));
  }
}
