import { expect, test } from 'vitest';
import { channelLabel, privateChannel } from './names.ts';

test.each([
  ['ada', 'bob', 'dm/ada~bob'],
  ['bob', 'ada', 'dm/ada~bob'],
  ['ada', 'adam', 'dm/ada~adam'],
  ['adam', 'ada', 'dm/ada~adam'],
  ['ada', 'ada', 'dm/ada~ada'],
  // In the order of UTF-8, where a character beyond U+FFFF comes last; UTF-16 has it the other way round.
  ['\u{10400}', '\uff5e', 'dm/\uff5e~\u{10400}'],
])('%s and %s share one channel, whoever names it', (me, other, channel) => {
  expect(privateChannel(me, other)).toBe(channel);
});

test('a private channel is called by the other party', () => {
  expect(channelLabel('dm/ada~bob', 'bob')).toBe('@ada');
  expect(channelLabel('general', 'bob')).toBe('general');
});
