/** What is said and what waits, for the pictures of the rooms Talk and Needs you. */
import type { RunningHub } from '../e2e/running-hub.ts';

/** The id of the message whose thread is worth looking at. */
export async function tellTalk({ ask, post, owner }: RunningHub): Promise<string> {
  for (const agent of ['claude', 'codex', 'gemini']) {
    await ask(agent, 'subscribe', { pattern: 'general' });
  }
  const say = async (agent: string, text: string, reply_to?: string, channel = 'general') =>
    (await ask(agent, 'send', { channel, body: { text }, reply_to })).message_id as string;
  await say(
    'claude',
    'Grammar is at 61 of 64 rules. The last three need the positions of the lexer.',
  );
  const question = await say(
    'codex',
    'They come with topic/lexer in a minute. Names and strings pass, numbers are next.\nDo you want columns in bytes or in characters?',
  );
  await say('claude', 'Characters: that is what editors show.', question);
  await say('codex', 'Good. Bytes stay inside the lexer then.', question);
  const body = {
    ...{ kind: 'post', title: 'Drop the old token shape', type: 'decision', tier: 1 },
    text: 'Nothing has read it since March, and it costs 12 % of the cache. I propose to drop it with 2.0.',
    owners: ['claude'],
  };
  const { message_id: root } = await ask('codex', 'send', { channel: 'general', body });
  await say('gemini', 'CI has one job that reads it. I move it today.', root);
  await say('claude', 'Then yes from me.', root);
  await ask('gemini', 'send', {
    channel: 'general',
    body: { event: 'build', branch: 'topic/lexer', ok: true, tests: 412, duration_s: 93.2 },
  });
  await say('gemini', 'Red on Windows only: a path with a colon.', undefined, 'ticket:42');
  await say('claude', 'lint passed', undefined, 'team/build');
  const asAda = {
    authorization: `Bearer ${owner}`,
    'x-sox-agent-id': 'ada',
    'x-synod-person': '1',
  };
  await post('subscribe', { pattern: 'ticket:*' }, asAda);
  await post('subscribe', { pattern: 'general' }, asAda);
  await post(
    'send',
    { channel: 'general', body: { text: 'Then let us do it. Thank you.' }, reply_to: root },
    asAda,
  );
  await ask('codex', 'recv', {});
  await say('gemini', 'It is the drive letter. Fixed in 1 line.', undefined, 'ticket:42');
  await post('threads_mark', { message_id: root, mark: 'pin' }, asAda);
  await post('threads_mark', { message_id: root, mark: 'resolve' }, asAda);
  return root;
}

export async function tellTrouble({ ask, admin, post }: RunningHub): Promise<void> {
  await admin('people_add', { name: 'ada', passphrase: 'correct horse battery' });
  await ask('codex', 'gates_ask', {
    ...{ action: 'push', subject: 'topic/lexer to main, 3 files, +41 −7', tier: 2 },
    ...{ payload: { branch: 'topic/lexer' }, policy: 'main is protected' },
  });
  await ask('claude', 'docket_raise', {
    text: 'Keep the old token shape for one more release? Two plugins still read it.',
  });
  const { token } = await admin('tokens_create', { agent_id: 'visitor', tier: 'untrusted' });
  const body = { text: 'I found a faster regular expression for names. May I show it?' };
  await post('send', { channel: 'general', body }, { authorization: `Bearer ${token}` });
}
