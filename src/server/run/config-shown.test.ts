import { expect, test } from 'vitest';
import { KNOWN_NAMES } from './config-file.ts';
import { showConfig } from './config-shown.ts';

function shown(input: { flags?: object; env?: Record<string, string>; file?: object } = {}) {
  const world = { home: '/home/ada', cwd: '/project', flags: {}, env: {}, file: undefined };
  const answer = showConfig({ ...world, ...input });
  if (Array.isArray(answer)) throw new Error(JSON.stringify(answer));
  return answer.settings;
}

test('[CF8] every setting is shown, with what is in force and where it was said', () => {
  const settings = shown({
    flags: { port: '1', corsOrigin: ['http://a'] },
    env: { SOX_HTTP_PORT: '2', SOX_BACKING_STORE: 'memory://' },
    file: { port: 3, server_config: { queue_limit: 7 } },
  });
  expect(settings.map(({ field }) => field).sort()).toEqual(
    KNOWN_NAMES.filter((name) => name !== 'server_config').sort(),
  );
  const of = (name: string) => settings.find(({ field }) => field === name);
  expect(of('port')).toMatchObject({ value: 1, source: 'flag', said: '--port' });
  expect(of('cors_origins')).toMatchObject({ value: ['http://a'], said: '--cors-origin' });
  expect(of('store')).toMatchObject({ value: 'memory:', said: 'SOX_BACKING_STORE' });
  expect(of('queue_limit')).toMatchObject({ value: 7, source: 'file', said: 'queue_limit' });
  expect(of('dir')).toMatchObject({ value: '/home/ada/.synod', source: 'default', said: null });
});

test('[CF8] no secret is shown', () => {
  const text = JSON.stringify(
    shown({
      flags: { synapse: true, metrics: 'metrics-secret' },
      env: {
        SYNAPSE_TOKEN: 'synapse-secret',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c',
        OTEL_EXPORTER_OTLP_HEADERS: 'key=otlp-secret',
      },
    }),
  );
  expect(text).toContain('(hidden)');
  expect(text).not.toContain('secret"');
});

test('[CF8] what serve would refuse is refused alike', () => {
  const answer = showConfig({
    ...{ home: '/h', cwd: '/p', env: {}, file: undefined },
    flags: { auth: 'open', host: '0.0.0.0' },
  });
  expect(answer).toMatchObject([{ code: 'config.open-not-loopback' }]);
});
