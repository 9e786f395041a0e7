/** Each vendor's own command line, of today, completes a turn here and calls a tool of the hub. */
import { afterEach, describe, expect } from 'vitest';
import { textShown } from './script.ts';
import { CHANNEL, liveTest, openStage, PEER, type Stage, vendors } from './stage.ts';

let stage: Stage | undefined;
afterEach(async () => await stage?.close());

describe.each(vendors)('$name', (vendor) => {
  liveTest('[LV1] completes a turn against a model on loopback', async () => {
    stage = await openStage(vendor);
    const ran = await stage.ask('say something', [{ say: 'something from the script' }]);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    expect(ran.stdout).toContain('something from the script');
    expect(stage.model.turns()).toHaveLength(1);
    const [turn] = stage.model.turns();
    expect(textShown(turn as NonNullable<typeof turn>)).toContain('say something');
  });

  liveTest('[LV2] calls a tool of the bridge, and the message arrives', async () => {
    stage = await openStage(vendor, { hasHub: true });
    const ran = await stage.ask('greet the room', [
      ...vendor.beforeTool('channels__send'),
      {
        call: vendor.toolName('channels__send'),
        args: { channel: CHANNEL, body: { text: 'good morning' } },
      },
      { say: 'sent' },
    ]);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    const received = await stage.scene.synod('recv', '--as', PEER, '--json');
    expect(received.stdout, ran.stdout).toContain('good morning');
    const last = stage.model.turns().at(-1);
    expect(textShown(last as NonNullable<typeof last>, 'tool')).toContain('message_id');
  });

  liveTest('[LV3] the model is shown the words of a refusal', async () => {
    stage = await openStage(vendor, { hasHub: true });
    await stage.ask('look into the letters of others', [
      ...vendor.beforeTool('channels__send'),
      {
        call: vendor.toolName('channels__send'),
        // Well formed, so that no vendor refuses it before the hub does.
        args: { channel: 'dm/bob~carol', body: { text: 'psst' } },
      },
      { say: 'refused' },
    ]);
    const last = stage.model.turns().at(-1);
    expect(textShown(last as NonNullable<typeof last>, 'tool')).toContain('error_code');
  });
});
