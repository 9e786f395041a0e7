/** What a config may say, and that every refusal names the file and the field. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, LIMIT_ROWS } from './config-limits.ts';
import { BusConfigError } from './config-reader.ts';
import { type ParsedBusConfig, parseBusConfig } from './parse-config.ts';

const POOL = { id: 'echo', command: 'cat', instances: 1 };

const parse = (document: unknown): ParsedBusConfig =>
  parseBusConfig(JSON.stringify(document), 'bus.json');

function refusal(document: unknown): string {
  return refusalOfText(JSON.stringify(document));
}

function refusalOfText(text: string): string {
  try {
    parseBusConfig(text, 'bus.json');
  } catch (error) {
    expect(error).toBeInstanceOf(BusConfigError);
    expect(error).toMatchObject({ code: 'bus.config', source: 'bus.json' });
    return (error as Error).message;
  }
  throw new Error(`it was taken: ${text}`);
}

const pool = (fields: object): object => ({ pools: [{ ...POOL, ...fields }] });

describe('a config of the reference', () => {
  test('[BC1] runs as it is: pools, six limits and transport, the rest by default', () => {
    const config = parse({
      pools: [
        { id: 'a', command: 'node', args: ['worker.js', ''], instances: 300 },
        { id: 'b', command: '/bin/cat', instances: 1 },
      ],
      limits: {
        max_input_buffer: 1_048_576,
        max_output_queue: 4_194_304,
        max_restarts: 0,
        restart_window_sec: 60,
        drain_timeout_sec: 0,
        backpressure_timeout_sec: 5,
      },
      transport: { mode: 'tcp', framing: 'length', protocol: 'json' },
    });
    expect(config.pools).toEqual([
      expect.objectContaining({ id: 'a', args: ['worker.js', ''], instances: 300, env: {} }),
      expect.objectContaining({ id: 'b', command: '/bin/cat', cwd: null, restart: 'always' }),
    ]);
    expect(config.limits).toEqual({
      ...DEFAULT_LIMITS,
      messageBytesMax: 1_048_576,
      queueBytesMax: 4_194_304,
      restartsMax: 0,
      restartWindowMs: 60_000,
      drainMs: 0,
      backpressureMs: 5_000,
    });
    expect(config.transport).toEqual({ mode: 'tcp', framing: 'length' });
    expect(config.warnings).toEqual([]);
  });

  test('[BC2] keys nobody reads are warnings that name the field', () => {
    const { warnings } = parse({
      ...pool({ nice: 3, envAllow: [] }),
      version: 2,
      limits: { max_workers: 1 },
      transport: { options: { shm_size: 1 } },
    });
    expect(warnings).toEqual([
      expect.stringMatching(/^version: is not known here/),
      expect.stringMatching(/^pools\[0\]\.nice: /),
      expect.stringMatching(/^pools\[0\]\.envAllow: .*did you mean env_allow\?$/),
      expect.stringMatching(/^limits\.max_workers: /),
      expect.stringMatching(/^transport\.options: has no effect/),
    ]);
  });

  test.each(['polcy', 'Policy', 'policies', 'client', 'cleints'])(
    '[BC2] %s would be an open door, so it is refused with the right name',
    (key) => {
      const right = key.toLowerCase().startsWith('p') ? 'policy' : 'clients';
      expect(() => parse({ ...pool({}), [key]: [] })).toThrow(
        `${key}: is not known here; did you mean ${right}?`,
      );
    },
  );

  test('[BC3] 0 for a buffer is the default, and said to be', () => {
    const config = parse({ pools: [POOL], limits: { max_input_buffer: 0, max_output_queue: 0 } });
    expect(config.limits).toMatchObject({ messageBytesMax: 10_485_760, queueBytesMax: 41_943_040 });
    expect(config.warnings).toHaveLength(2);
  });

  test('[BC1] two megabytes of it are no trouble, nor is a byte order mark', () => {
    const args = Array.from({ length: 2_000 }, () => 'x'.repeat(1_000));
    const text = `\u{feff}${JSON.stringify(pool({ args }))}`;
    expect(parseBusConfig(text, 'bus.json').pools[0]?.args).toHaveLength(2_000);
  });
});

describe('our additions', () => {
  test('[BC4] a pool says its environment, folder, restarts, probes, bounds and routes', () => {
    const config = parse(
      pool({
        env: { A: '1', EMPTY: '' },
        env_allow: ['OPENAI_API_KEY', 'AWS_*', '*'],
        cwd: 'work',
        restart: 'on-failure',
        ready: { method: 'ping' },
        ping: { method: 'ping', interval_sec: 0.5, timeout_sec: 2 },
        hang_timeout_sec: 9,
        max_in_flight: 3,
        agents: ['ada'],
        methods: ['tools/'],
      }),
    );
    expect(config.pools[0]).toEqual({
      ...POOL,
      args: [],
      env: { A: '1', EMPTY: '' },
      envAllow: ['OPENAI_API_KEY', 'AWS_*', '*'],
      cwd: 'work',
      restart: 'on-failure',
      ready: { method: 'ping', timeoutMs: 10_000 },
      ping: { method: 'ping', everyMs: 500, timeoutMs: 2_000 },
      hangMs: 9_000,
      inFlightMax: 3,
      agents: ['ada'],
      methods: ['tools/'],
    });
    expect(config.warnings).toEqual([]);
  });

  test('[BC4] rules and clients are read; a hash may be written in capitals', () => {
    const config = parse({
      pools: [POOL],
      policy: [{ effect: 'deny', method: 'fs/', pool: 'echo', role: 'guest', reason: 'ask Ada' }],
      clients: [{ subjectId: 'ada', token_sha256: 'A'.repeat(64) }],
    });
    expect(config.policy).toEqual([
      {
        effect: 'deny',
        method: 'fs/',
        pool: 'echo',
        subject: null,
        role: 'guest',
        reason: 'ask Ada',
      },
    ]);
    expect(config.clients).toEqual([
      { subjectId: 'ada', role: 'client', tokenHash: 'a'.repeat(64) },
    ]);
  });
});

describe('a refusal names the file and the field', () => {
  test.each<[string, unknown, RegExp]>([
    ['no object', [], /^bus\.json: must be an object; found \[\]$/],
    ['no pools', {}, /^bus\.json: pools: is missing/],
    ['pools of another kind', { pools: {} }, /pools: must be an array/],
    ['an empty list', { pools: [] }, /pools: must have at least one pool/],
    ['a pool that is no object', { pools: [7] }, /pools\[0\]: must be an object; found 7/],
    ['no id', { pools: [{ command: 'cat', instances: 1 }] }, /pools\[0\]\.id: is missing/],
    ['an empty id', pool({ id: '' }), /pools\[0\]\.id: must not be empty/],
    ['no command', { pools: [{ id: 'a', instances: 1 }] }, /pools\[0\]\.command: is missing/],
    ['a command with a NUL', pool({ command: 'a\0b' }), /pools\[0\]\.command: .*control/],
    ['no instances', { pools: [{ id: 'a', command: 'cat' }] }, /pools\[0\]\.instances: is missing/],
    [
      'zero instances',
      pool({ instances: 0 }),
      /pools\[0\]\.instances: must be from 1 to 1024; found 0/,
    ],
    ['too many', pool({ instances: 1_025 }), /pools\[0\]\.instances: must be from 1 to 1024/],
    ['half an instance', pool({ instances: 1.5 }), /pools\[0\]\.instances: must be a whole number/],
    ['instances as text', pool({ instances: '2' }), /pools\[0\]\.instances: .*found "2"/],
    ['args that are no list', pool({ args: 'x' }), /pools\[0\]\.args: must be an array/],
    ['an arg that is a number', pool({ args: ['a', 5] }), /pools\[0\]\.args\[1\]: .*in quotes/],
    ['an env value', pool({ env: { PORT: 80 } }), /pools\[0\]\.env\.PORT: .*in quotes/],
    ['an env name', pool({ env: { 'A=B': '' } }), /pools\[0\]\.env\."A=B": is no name/],
    ['an env_allow pattern', pool({ env_allow: ['A*B'] }), /pools\[0\]\.env_allow\[0\]: /],
    ['a restart policy', pool({ restart: 'maybe' }), /pools\[0\]\.restart: must be "always" or/],
    ['a probe without a method', pool({ ready: {} }), /pools\[0\]\.ready\.method: is missing/],
    ['a ping of no time', pool({ ping: { method: 'p', interval_sec: 0 } }), /ping\.interval_sec: /],
    ['a limit as text', { pools: [POOL], limits: { max_restarts: '5' } }, /limits\.max_restarts: /],
    ['a limit below 0', { pools: [POOL], limits: { max_restarts: -1 } }, /from 0 to \d+; found -1/],
    ['limits that are none', { pools: [POOL], limits: 3 }, /limits: must be an object/],
    [
      'shared memory',
      { pools: [POOL], transport: { mode: 'shm' } },
      /transport\.mode: "shm": .*"unix"/,
    ],
    ['a queue', { pools: [POOL], transport: { mode: 'mqueue' } }, /transport\.mode: "mqueue": /],
    ['raw frames', { pools: [POOL], transport: { framing: 'raw' } }, /transport\.framing: "raw": /],
    ['capnp', { pools: [POOL], transport: { framing: 'capnp' } }, /transport\.framing: "capnp": /],
    [
      'binary',
      { pools: [POOL], transport: { protocol: 'binary' } },
      /transport\.protocol: "binary"/,
    ],
    [
      'another mode',
      { pools: [POOL], transport: { mode: 'udp' } },
      /transport\.mode: must be "stdio"/,
    ],
    [
      'a misspelt rule',
      { pools: [POOL], policy: [{ effect: 'deny', methd: 'x' }] },
      /policy\[0\]\.methd: is not known/,
    ],
    [
      'a rule about no pool',
      { pools: [POOL], policy: [{ effect: 'deny', pool: 'z' }] },
      /policy\[0\]\.pool: there is no pool "z"/,
    ],
    [
      'a rule without effect',
      { pools: [POOL], policy: [{}] },
      /policy\[0\]\.effect: must be "allow"/,
    ],
    [
      'a client without hash',
      { pools: [POOL], clients: [{ subjectId: 'a' }] },
      /clients\[0\]\.token_sha256: /,
    ],
  ])('[BC5] %s', (_, document, wanted) => {
    expect(refusal(document)).toMatch(wanted);
  });

  test('[BC5] a hash that is none is not shown: it may be the token itself', () => {
    const clients = [{ subjectId: 'a', token_sha256: 'my-secret-token' }];
    expect(refusal({ pools: [POOL], clients })).not.toContain('my-secret-token');
  });

  test('[BC6] two pools never share an id, but may serve the same agent or method', () => {
    const two = (a: object, b: object) => ({
      pools: [
        { ...POOL, id: 'a', ...a },
        { ...POOL, id: 'b', ...b },
      ],
    });
    expect(refusal(two({}, { id: 'a' }))).toMatch(
      /pools\[1\]\.id: "a" is already that of pools\[0\]/,
    );
    const shared = { agents: ['x'], methods: ['m/'] };
    expect(parse(two(shared, shared)).pools).toHaveLength(2);
  });

  test('[BC6] all pools together have a bound', () => {
    const pools = Array.from({ length: 5 }, (_, i) => ({ ...POOL, id: `p${i}`, instances: 1_024 }));
    expect(refusal({ pools })).toMatch(/pools: ask for 5120 workers in all; at most 4096/);
  });

  test('[BC5] several problems are all named, up to a number, and the rest counted', () => {
    const message = refusal({ pools: Array.from({ length: 12 }, () => ({ ...POOL, id: '' })) });
    expect(message.match(/pools\[\d+\]\.id/g)).toHaveLength(8);
    expect(message).toMatch(/; and 4 more$/);
  });

  test.each([
    ['', /bus\.json: is empty/],
    ['xyz', /bus\.json: is not JSON: .* at line 1, column 1$/],
    ['{"pools": [\n  {"id": "a",}\n]}', /is not JSON: .* at line 2, column 14$/],
    ['{"pools":\n[', /is not JSON: .* at line 2, column 2$/],
    ['{} // hi', /is not JSON: .* at line 1, column 4$/],
    ['['.repeat(200_000), /bus\.json: is not JSON/],
  ])('[BC7] what is not JSON is told with line and column: %.40j', (text, wanted) => {
    expect(refusalOfText(text)).toMatch(wanted);
  });
});

test('[BC8] every limit has bounds, its default lies inside, and a number outside is refused by name', () => {
  for (const [key, row] of Object.entries(LIMIT_ROWS)) {
    const scale = row.unit === 'seconds' ? 1_000 : 1;
    const usual = DEFAULT_LIMITS[key as keyof typeof DEFAULT_LIMITS] / scale;
    expect(usual).toBeGreaterThanOrEqual(row.min);
    expect(usual).toBeLessThanOrEqual(row.max);
    for (const value of [row.max + 1, -1]) {
      expect(refusal({ pools: [POOL], limits: { [row.name]: value } })).toContain(
        `limits.${row.name}: must be from ${row.min} to ${row.max}; found ${value}`,
      );
    }
    const edge = parse({ pools: [POOL], limits: { [row.name]: row.max } });
    expect(edge.limits[key as keyof typeof DEFAULT_LIMITS]).toBe(row.max * scale);
  }
});

test('[BC5] whatever the document is, it is parsed or refused with a coded error', () => {
  const keys = ['pools', 'limits', 'transport', 'policy', 'clients', 'id', 'command', 'instances'];
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(0, 1, -1, 1.5, 'cat', '', null, true),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...keys), tie('tree'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(tree, (document) => {
      try {
        expect(parse(document).pools.length).toBeGreaterThan(0);
      } catch (error) {
        expect(error).toBeInstanceOf(BusConfigError);
      }
    }),
  );
});
