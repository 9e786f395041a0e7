/** A hub that is killed while it mirrors: its next one goes on where the files end. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startHubProcess } from './hub-process.ts';
import type { Json } from './running-hub.ts';

async function start(dir: string) {
  const hub = await startHubProcess(join(dir, 'hub'), {
    args: ['--mirror', join(dir, 'mirror'), '--auth', 'open'],
  });
  if (!('url' in hub)) throw new Error(`the hub did not start: ${hub.stderr}`);
  return hub;
}

const send = (url: string, text: string): Promise<Response> =>
  fetch(`${url}/v1/ops/send`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-sox-agent-id': 'ada' },
    body: JSON.stringify({ channel: `c${text.length % 3}`, body: { text } }),
  });

test('[MI2] killed in the middle, a mirror has every message of the log, each once', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'synod-mirror-'));
  try {
    const sent: string[] = [];
    for (const round of ['a', 'b']) {
      const hub = await start(dir);
      const texts = Array.from({ length: 60 }, (_, i) => `${round}${'x'.repeat(i % 7)}${i}`);
      const answers = texts.map((text) =>
        send(hub.url, text).then(
          ({ ok }) => ok && sent.push(text),
          () => {},
        ),
      );
      // Some are answered, some are on their way.
      await Promise.race(answers.slice(20));
      await hub.kill();
      await Promise.all(answers);
    }
    const last = await start(dir);
    expect((await send(last.url, 'the end')).ok).toBe(true);
    expect(await last.stop()).toBe(0);
    const all: Json[] = [];
    for (const name of ['c0', 'c1', 'c2']) {
      const text = await readFile(join(dir, 'mirror', 'default', `${name}.jsonl`), 'utf8');
      const lines = text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
      // Numbers of a channel have no gap.
      expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, i) => i + 1));
      all.push(...lines);
    }
    const said = all.map(({ body }) => body.text);
    expect(new Set(said).size).toBe(said.length);
    for (const text of [...sent, 'the end']) expect(said).toContain(text);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
