/**
 * Waking an idle session by the vendor's own means, with no key typed: the model is asked again,
 * and was shown what we said. Each wake also shows how its arrival is confirmed.
 */
import { join } from 'node:path';
import { afterEach, describe, expect } from 'vitest';
import { cliPath } from './clis.ts';
import { listOf, objectOf, textOf } from './dialects/json.ts';
import { seen } from './patience.ts';
import { type ModelRequest, textShown } from './script.ts';
import { liveTest, openStage, type Stage } from './stage.ts';
import { openStdioRpc } from './stdio-rpc.ts';
import { claude } from './vendors/claude.ts';
import { openClaude, socketOf, wake } from './vendors/claude-open.ts';
import { codex } from './vendors/codex.ts';
import { openAppServer } from './vendors/codex-open.ts';
import { gemini } from './vendors/gemini.ts';
import { opencode } from './vendors/opencode.ts';

let stage: Stage | undefined;
afterEach(async () => await stage?.close());

const NEWS = 'message 4711 waits in room';

function shows(text: string): (request: ModelRequest) => boolean {
  return (request) => textShown(request, 'user').includes(text);
}

describe('Claude Code', () => {
  liveTest(
    '[LV13] a line on the messaging socket wakes an idle session',
    { needs: ['claude'] },
    async () => {
      stage = await openStage(claude);
      openClaude(stage, []).say('begin');
      await stage.probe.waitFor('hook', 'Stop');
      await wake(await socketOf(stage), NEWS);
      const turn = await stage.model.waitForTurn(shows(NEWS));
      expect(textShown(turn, 'user')).toContain('Another Claude session sent a message');
      const prompts = stage.probe.records('hook', 'UserPromptSubmit').map(({ input }) => input);
      expect(prompts.map(({ prompt }) => prompt)).toEqual(['begin', NEWS]);
    },
  );

  liveTest(
    '[LV14] to a busy session it comes between two tool calls',
    { needs: ['claude'] },
    async () => {
      stage = await openStage(claude);
      const gate = join(stage.scene.project, 'gate');
      const command = `until [ -e '${gate}' ]; do sleep 0.02; done; echo opened`;
      const bash = { call: 'Bash', args: { command, description: 'waits for the gate' } };
      stage.model.play([bash, { say: 'done' }]);
      openClaude(stage, ['--allowedTools', 'Bash']).say('begin');
      await stage.probe.waitFor('hook', 'PreToolUse');
      await wake(await socketOf(stage), NEWS);
      stage.scene.write('project/gate', '');
      const turn = await stage.model.waitForTurn(shows(NEWS));
      expect(textShown(turn, 'tool')).toContain('opened');
      expect(textShown(turn, 'user')).toContain('while you were working');
    },
  );

  liveTest(
    '[LV15] a session that asks no permission holds it, unless told to accept',
    { needs: ['claude'] },
    async () => {
      stage = await openStage(claude);
      const free = '--dangerously-skip-permissions';
      const held = openClaude(stage, [free]);
      held.say('begin');
      await stage.probe.waitFor('hook', 'Stop');
      await wake(await socketOf(stage), NEWS);
      await seen('it says that it holds the message', () =>
        held.started.stdout().includes('"peer_message_hold"'),
      );
      expect(stage.model.turns().filter(shows(NEWS))).toEqual([]);
      await stage.close();

      stage = await openStage(claude);
      openClaude(stage, [free, '--settings', '{"crossSessionInbound":"accept"}']).say('begin');
      await stage.probe.waitFor('hook', 'Stop');
      await wake(await socketOf(stage), NEWS);
      await stage.model.waitForTurn(shows(NEWS));
    },
  );
});

describe('Codex', () => {
  liveTest(
    '[LV16] the app-server starts a turn, and a queue does on an idle thread',
    { needs: ['codex'] },
    async () => {
      stage = await openStage(codex);
      const rpc = await openAppServer(stage);
      const { thread } = await rpc.call('thread/start', { cwd: stage.scene.project });
      const threadId = textOf(objectOf(thread).id);
      const input = (text: string): object[] => [{ type: 'text', text }];
      await rpc.call('turn/start', { threadId, input: input('begin') });
      await stage.model.waitForTurn(shows('begin'));
      await seen('the thread is idle', async () => {
        const read = await rpc.call('thread/read', { threadId });
        return objectOf(objectOf(read.thread).status).type === 'idle';
      });
      await rpc.call('thread/queue/add', {
        threadId,
        input: input(NEWS),
        clientUserMessageId: 'm1',
      });
      await stage.model.waitForTurn(shows(NEWS));
    },
  );

  liveTest(
    '[LV17] "codex queue" says queued although nobody is there to read it',
    { needs: ['codex'] },
    async () => {
      stage = await openStage(codex);
      const first = await stage.ask('begin', [{ say: 'done' }]);
      const started = objectOf(JSON.parse(first.stdout.split('\n')[0] ?? ''));
      const words = ['queue', '--thread', textOf(started.thread_id), '--message', NEWS];
      const ran = await stage.scene.run(cliPath('codex'), words, { env: codex.env(stage.setup) });
      expect(ran, ran.stderr).toMatchObject({ code: 0 });
      expect(ran.stdout).toContain('Queued message');
      expect(stage.model.turns()).toHaveLength(1);
    },
  );
});

describe('Gemini', () => {
  liveTest(
    '[LV18] over ACP, a second prompt wakes the same session',
    { needs: ['gemini'] },
    async () => {
      stage = await openStage(gemini);
      const rpc = openStdioRpc(
        stage.scene.start(cliPath('gemini'), ['--acp', '-m', 'gemini-2.5-pro'], {
          env: gemini.env(stage.setup),
          keepsInput: true,
        }),
      );
      await rpc.call('initialize', { protocolVersion: 1, clientCapabilities: {} });
      const { sessionId } = await rpc.call('session/new', {
        cwd: stage.scene.project,
        mcpServers: [],
      });
      for (const text of ['begin', NEWS]) {
        const prompt = [{ type: 'text', text }];
        const { stopReason } = await rpc.call('session/prompt', { sessionId, prompt });
        expect(stopReason).toBe('end_turn');
      }
      const turn = stage.model.turns().find(shows(NEWS));
      expect(textShown(turn as NonNullable<typeof turn>, 'user')).toContain('begin');
      const sessions = stage.probe.records('hook', 'BeforeAgent').map(({ input }) => input);
      expect(sessions.map(({ session_id: id }) => id)).toEqual([sessionId, sessionId]);
    },
  );
});

describe('opencode', () => {
  const PASSWORD = 'for this test only';

  liveTest(
    '[LV19] its server and our plugin each wake an idle session',
    { needs: ['opencode'] },
    async () => {
      stage = await openStage(opencode);
      const { scene, setup, model, probe } = stage;
      const env = { ...opencode.env(setup), OPENCODE_SERVER_PASSWORD: PASSWORD };
      const server = scene.start(cliPath('opencode'), ['serve', '--port', '0'], { env });
      const printed = await seen(
        'the server says where it listens',
        () => /http:\/\/[\d.:]+/.exec(server.stdout())?.[0],
      );
      const post = (path: string, body: object, password = PASSWORD): Promise<Response> =>
        fetch(`${printed}${path}`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            authorization: `Basic ${Buffer.from(`opencode:${password}`).toString('base64')}`,
            'x-opencode-directory': scene.project,
          },
          body: JSON.stringify(body),
        });
      expect((await post('/session', {}, 'wrong')).status).toBe(401);
      const session = objectOf(await (await post('/session', {})).json());
      const wakePath = `/session/${textOf(session.id)}/prompt_async`;
      const say = (text: string): object => ({ parts: [{ type: 'text', text }] });
      expect((await post(wakePath, say('begin'))).status).toBe(204);
      await model.waitForTurn(shows('begin'));
      await probe.waitFor('hook', 'session.idle');

      expect((await post(wakePath, say(NEWS))).status).toBe(204);
      await model.waitForTurn(shows(NEWS));
      scene.write('answers/wake', 'the plugin has news');
      await model.waitForTurn(shows('the plugin has news'));
      const prompts = probe.records('hook', 'chat.message').map(({ input }) => input.parts);
      expect(prompts.map((parts) => textOf(objectOf(listOf(parts)[0]).text))).toEqual([
        'begin',
        NEWS,
        'the plugin has news',
      ]);
    },
  );
});
