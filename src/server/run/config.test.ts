import { describe, expect, test } from 'vitest';
import { type Config, type ConfigInput, type ConfigProblem, parseConfig } from './config.ts';

function parse(input: Partial<ConfigInput>): Config | ConfigProblem[] {
  return parseConfig({
    flags: {},
    env: {},
    file: undefined,
    home: '/home/ada',
    cwd: '/projects',
    ...input,
  });
}

function accept(input: Partial<ConfigInput>): Config {
  const config = parse(input);
  if (Array.isArray(config)) throw new Error(JSON.stringify(config));
  return config;
}

function refuse(input: Partial<ConfigInput>): ConfigProblem[] {
  const problems = parse(input);
  if (!Array.isArray(problems)) throw new Error('the configuration was accepted');
  return problems;
}

describe('parseConfig', () => {
  test('[CF1] without a word from anybody it serves the owner on loopback', () => {
    expect(accept({})).toEqual({
      host: '127.0.0.1',
      port: 8765,
      dir: '/home/ada/.synod',
      store: null,
      serverName: null,
      closeUnusedAfterMs: 600_000,
      auth: 'local',
      corsOrigins: [],
      allowedHosts: [],
      agents: null,
      settings: {
        backpressureMode: null,
        queueLimit: null,
        claimsPerAgent: null,
        offersPerAgent: null,
        idempotencyTtlMs: null,
        typedChannels: null,
        rateLimit: null,
        heartbeatTtl: null,
      },
      faultInject: null,
      plugins: { allow: undefined, from: null, skipMismatched: false },
      logLevel: 'info',
      isSocketOn: true,
      synapse: null,
      mirror: null,
      relay: null,
      synapseRelay: null,
      bus: null,
      metrics: null,
      hostRateLimit: null,
      notices: null,
      turns: { runners: {}, roots: ['/home/ada'], parallelMax: null },
      telemetry: null,
      recordKey: { path: '/home/ada/.local/state/synod/record.key', isChosen: false },
    });
  });

  test('[CF2] flags win over the environment, it over the file, it over the defaults', () => {
    const file = { port: 1, host: 'localhost', log_level: 'error', queue_limit: 7 };
    const env = { SOX_HTTP_PORT: '2', SOX_HTTP_HOST: '127.0.0.2', SOX_LOG_LEVEL: '' };
    expect(accept({ file, env, flags: { port: '3' } })).toMatchObject({
      port: 3,
      host: '127.0.0.2',
      logLevel: 'error',
      settings: { queueLimit: 7 },
    });
  });

  test('[TL11] telemetry is asked for by flag, file or the variables of OpenTelemetry, and nobody else', () => {
    const asked = { sample: 1, hasContent: false, service: 'synod' };
    expect(
      accept({ flags: { otlp: 'http://c:4318', telemetryFile: 't.jsonl' } }).telemetry,
    ).toEqual({
      ...{ ...asked, otlp: { endpoint: 'http://c:4318', headers: {} } },
      file: '/projects/t.jsonl',
    });
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.example.org/x',
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b, x-team=one',
      OTEL_SERVICE_NAME: 'hub of the shop',
    };
    const headers = { 'api-key': 'a b', 'x-team': 'one' };
    expect(accept({ env }).telemetry).toEqual({
      ...{ ...asked, service: 'hub of the shop', file: null },
      otlp: { endpoint: 'https://otel.example.org/x', headers },
    });
    expect(accept({ env: { ...env, OTEL_SDK_DISABLED: 'true' } }).telemetry).toBeNull();
    expect(accept({ env: { OTEL_SERVICE_NAME: 'x' } }).telemetry).toBeNull();
    const file = { otlp: 'http://c:4318', telemetry_content: true, telemetry_sample: 0.1 };
    expect(accept({ file }).telemetry).toMatchObject({ hasContent: true, sample: 0.1 });
  });

  test.each([
    [{ flags: { otlp: 'collector:4317' } }, '--otlp'],
    [{ env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' } }, 'OTEL_EXPORTER_OTLP_ENDPOINT'],
    [{ flags: { otlp: 'https://me:secret-key@c' } }, '--otlp'],
    [{ file: { otlp: 'http://c', otlp_headers: { 'a b': 'secret-key' } } }, 'otlp_headers.a b'],
    [{ file: { otlp: 'http://c', otlp_headers: { a: 'secret-key\n' } } }, 'otlp_headers.a'],
    [{ file: { telemetry_sample: 2 } }, 'telemetry_sample'],
  ])(
    '[TL11] what no collector can be is refused by name, and no header is shown',
    (input, field) => {
      const [problem] = refuse(input as Partial<ConfigInput>);
      expect(problem?.field).toBe(field);
      expect(problem?.message).not.toContain('secret-key');
    },
  );

  test('[SQ1] a name among several goes with a store that several share', () => {
    const store = 'nats://127.0.0.1:4222/synod';
    expect(accept({ flags: { store, serverName: 'one' } })).toMatchObject({ serverName: 'one' });
    expect(refuse({ flags: { serverName: 'one' } })).toMatchObject([
      { field: 'server_name', message: expect.stringContaining('nats://') },
    ]);
    expect(refuse({ flags: { store, serverName: 'a b' } })).toMatchObject([
      { field: '--server-name' },
    ]);
  });

  test('[CF2] a --no- flag that was not given does not override the file', () => {
    const config = accept({ file: { socket: false }, flags: { socket: true } });
    expect(config.isSocketOn).toBe(false);
  });

  test.each([
    ['memory:', 'memory:'],
    ['memory://', 'memory:'],
    ['sqlite://:memory:', 'memory:'],
    ['sqlite:///:memory:', 'memory:'],
    ['sqlite:///var/log.sqlite', 'sqlite:///var/log.sqlite'],
    ['sqlite:////var/log.sqlite', 'sqlite:///var/log.sqlite'],
    ['file:///var/a b%20c', 'file:///var/a b%20c'],
  ])('the store %s is %s', (given, store) => {
    expect(accept({ env: { SOX_BACKING_STORE: given } }).store).toBe(store);
  });

  test.each(['sqlite://relative.db', 'sqlite:///', 'mysql://host/db', 'x', 'file://host/dir'])(
    'the store %s is refused, and what is allowed is named',
    (store) => {
      const [problem] = refuse({ flags: { store } });
      expect(problem).toMatchObject({ code: 'config.invalid', field: '--store', source: 'flag' });
      expect(problem?.message).toContain('sqlite:///path');
    },
  );

  test('a directory may start at home or be relative', () => {
    expect(accept({ file: { dir: '~/hub' } }).dir).toBe('/home/ada/hub');
    expect(accept({ env: { SYNOD_DIR: 'hub' } }).dir).toBe('/projects/hub');
    expect(accept({ flags: { dir: '/srv/hub/' } }).dir).toBe('/srv/hub');
  });

  test('[CF3] each problem names the field, where it was said and what is allowed', () => {
    const problems = refuse({
      flags: { port: '70000', auth: 'none' },
      env: { SOX_HTTP_PORT: 'http', SOX_LOG_LEVEL: 'loud', SOX_HTTP_CORS_ORIGINS: '*' },
      file: { agents: [{ id: 'a b' }], server_config: { queue_limit: 0, queue_limt: 1 }, prot: 1 },
    });
    expect(problems.map(({ source, field }) => `${source} ${field}`).sort()).toEqual([
      'env SOX_HTTP_CORS_ORIGINS.0',
      'env SOX_HTTP_PORT',
      'env SOX_LOG_LEVEL',
      'file agents.0.id',
      'file prot',
      'file server_config.queue_limit',
      'file server_config.queue_limt',
      'flag --auth',
      'flag --port',
    ]);
    const said = (field: string) => problems.find((each) => each.field === field)?.message;
    expect(said('--port')).toBe('must be a whole number from 0 to 65535 (found 70000)');
    expect(said('--auth')).toBe('must be local or open (found "none")');
    expect(said('prot')).toContain('is not a setting; known are host, port');
  });

  test('a file that is no object is refused as such', () => {
    expect(refuse({ file: [] })[0]).toMatchObject({ source: 'file', field: 'the file' });
  });

  test('[CF4] open is refused off loopback, whichever source says so', () => {
    const [problem] = refuse({ file: { auth: 'open' }, flags: { host: '0.0.0.0' } });
    expect(problem).toMatchObject({ code: 'config.open-not-loopback', source: 'file' });
    expect(problem?.message).toContain('--host 127.0.0.1');
    for (const host of ['127.0.0.1', '::1', 'localhost', '127.1.2.3']) {
      expect(accept({ flags: { auth: 'open', host } }).auth).toBe('open');
    }
    for (const host of ['::', '192.168.1.4', 'localhost.example.org', '127.0.0.1.example.org']) {
      expect(refuse({ flags: { auth: 'open', host } })[0]?.code).toBe('config.open-not-loopback');
    }
  });

  test('[CF5] faults are injected only where tests asked for them', () => {
    const file = { server_config: { fault_inject: 'rate_limited' } };
    expect(refuse({ file })[0]).toMatchObject({ code: 'config.faults-off', source: 'file' });
    expect(accept({ file, env: { SOX_TEST_FAULTS: '1' } }).faultInject).toBe('rate_limited');
  });

  test('[CF6] a list of agents is strict, even when empty', () => {
    expect(accept({ env: { SOX_PRE_REGISTERED_AGENTS: '' } }).agents).toEqual([]);
    expect(accept({ env: { SOX_PRE_REGISTERED_AGENTS: 'a, b' } }).agents).toEqual([
      { id: 'a', namespace: null },
      { id: 'b', namespace: null },
    ]);
    expect(accept({ file: { agents: [{ id: 'a', namespace: 'red' }] } }).agents).toEqual([
      { id: 'a', namespace: 'red' },
    ]);
  });

  test('SOX names count at the top and under server_config; the outer one wins', () => {
    const typed = { 'ticket:1': { type: 'object' } };
    const file = { queue_limit: 2, server_config: { queue_limit: 1, typed_channels: typed } };
    expect(accept({ file }).settings).toMatchObject({ queueLimit: 2, typedChannels: typed });
  });

  test('plugins are listed and switched off by variables or flags', () => {
    const env = { SOX_ALLOWED_PLUGINS: 'a, b', SOX_NO_DISCOVERY: '1' };
    expect(accept({ env }).plugins).toEqual({
      allow: ['a', 'b'],
      from: null,
      skipMismatched: false,
    });
    const flags = { allowPlugins: 'c', skipMismatchedPlugins: true };
    expect(accept({ env, flags }).plugins).toMatchObject({ allow: ['c'], skipMismatched: true });
  });

  test('[CF7] plugins are looked for only where somebody asked for them', () => {
    const from = (flags: object, file?: object) => accept({ flags, file }).plugins.from;
    expect(from({})).toBe(null);
    expect(from({ discovery: true })).toBe('/projects');
    expect(from({ discovery: 'mine' })).toBe('/projects/mine');
    expect(from({}, { discovery: true })).toBe('/projects');
    expect(from({ discovery: false }, { discovery: true })).toBe(null);
    // Whoever names plugins has asked for them.
    expect(from({ allowPlugins: 'a' })).toBe('/projects');
    expect(from({ allowPlugins: 'a', discovery: false })).toBe(null);
    expect(from({ allowPlugins: '' })).toBe(null);
  });

  test('relay, metrics and the limit per host are off until asked for, and checked', () => {
    expect(accept({ flags: { relay: 'feed' } }).relay).toEqual({
      path: '/projects/feed',
      lines: 5000,
    });
    expect(accept({ file: { relay: '~/f', relay_lines: 9 } }).relay).toEqual({
      path: '/home/ada/f',
      lines: 9,
    });
    expect(accept({ flags: { metrics: true } }).metrics).toEqual({ token: null });
    expect(accept({ flags: { metrics: 'long-enough' } }).metrics).toEqual({ token: 'long-enough' });
    expect(accept({ file: { metrics: false } }).metrics).toBeNull();
    expect(accept({ file: { host_rate_limit: 50 } }).hostRateLimit).toBe(50);
    const bad = refuse({
      flags: { metrics: 'short', relayLines: '0' },
      file: { host_rate_limit: 0 },
    });
    expect(bad.map(({ field }) => field)).toEqual([
      '--relay-lines',
      '--metrics',
      'host_rate_limit',
    ]);
    expect(JSON.stringify(bad)).not.toContain('short');
  });

  test('log levels are taken as SOX writes them', () => {
    expect(accept({ env: { SOX_LOG_LEVEL: 'INFO' } }).logLevel).toBe('info');
    expect(accept({ env: { SOX_LOG_LEVEL: 'WARNING' } }).logLevel).toBe('warn');
  });

  test('[RU21] a file names runners, manages agents and says where turns may work', () => {
    const script = { kind: 'command', command: ['./agent'] };
    const config = accept({
      file: {
        ...{ runners: { script }, turns_roots: ['~/work', 'here'], turns_parallel_max: 3 },
        agents: [
          { id: 'bob' },
          { id: 'ada', namespace: 'den', runner: 'script', subscribe: ['team/*'] },
          { id: 'eve', runner: { kind: 'outside' }, limits: { hops: 2 }, session: 'fresh' },
        ],
      },
    });
    expect(config.turns).toEqual({
      ...{ runners: { script }, roots: ['/home/ada/work', '/projects/here'], parallelMax: 3 },
    });
    expect(config.agents).toEqual([
      { id: 'bob', namespace: null },
      {
        ...{ id: 'ada', namespace: 'den' },
        managed: { runner: 'script', session: 'resume', subscribe: ['team/*'] },
      },
      {
        ...{ id: 'eve', namespace: null },
        managed: {
          ...{ runner: { kind: 'outside' }, limits: { hops: 2 }, session: 'fresh', subscribe: [] },
        },
      },
    ]);
  });

  test.each<[string, object, string]>([
    ['an unknown name', { agents: [{ id: 'a', runner: 'none' }] }, 'agents.0.runner'],
    ['an unknown kind', { runners: { x: { kind: 'robot' } } }, 'runners.x.kind'],
    ['no command', { runners: { x: { kind: 'command' } } }, 'runners.x.command'],
    [
      'a limit out of range',
      { agents: [{ id: 'a', runner: { kind: 'outside' }, limits: { hops: 0 } }] },
      'agents.0.limits',
    ],
    ['limits and no runner', { agents: [{ id: 'a', limits: {} }] }, 'agents.0.limits'],
    ['a misspelt field', { agents: [{ id: 'a', runer: 'x' }] }, 'agents.0.runer'],
    ['no turns at all', { turns_parallel_max: 0 }, 'turns_parallel_max'],
  ])('[RU21] of turns, %s is refused by field', (_, file, field) => {
    expect(refuse({ file }).map((problem) => problem.field)).toEqual([field]);
  });
});
