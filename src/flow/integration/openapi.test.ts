/** OpenAPI documents: read with suspicion, and called at real servers on loopback; the hub's own is one. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { openRunningHub } from '../../../test/e2e/running-hub.ts';
import { createGuard } from '../../guard/guard.ts';
import { createIntegrations } from './integrations.ts';
import { type OpenApiOptions, registerOpenApi, urlOf } from './openapi.ts';
import { readDocument } from './openapi-document.ts';

const asAda = { as: 'ada' };
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const PETS = `
openapi: 3.0.3
info: { title: Pets, version: 2.1.0 }
servers: [{ url: 'https://pets.example.com/v1' }]
paths:
  /pets/{petId}:
    parameters:
      - { name: petId, in: path, required: true, schema: { type: string } }
    get:
      operationId: showPet
      parameters:
        - { name: tag, in: query, schema: { type: array, items: { type: string } } }
        - { name: X-Trace, in: header, schema: { type: string } }
        - { name: Authorization, in: header, schema: { type: string } }
      responses:
        '200': { content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } } }
    put:
      operationId: changePet
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } }
      responses: { '204': { description: done } }
  /odd:
    get: { operationId: needsCookie, parameters: [{ name: c, in: cookie, required: true }], responses: {} }
    post: { responses: {} }
    delete:
      operationId: leadsOut
      requestBody: { content: { application/json: { schema: { $ref: 'http://evil.test/x.json' } } } }
      responses: {}
  /lost/{a}:
    get: { operationId: lostPart, responses: {} }
components:
  schemas:
    Pet:
      type: object
      required: [name]
      properties:
        name: { type: string }
        owner: { type: string, nullable: true }
        parent: { $ref: '#/components/schemas/Pet' }
`;

interface Heard {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

async function open(
  answer: (heard: Heard, count: number) => { status?: number; body?: unknown; headers?: object },
  more: Partial<OpenApiOptions> = {},
) {
  const heard: Heard[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method, url, headers } = request;
    const one = { method, url, headers, body: String(Buffer.concat(chunks)) };
    heard.push(one);
    const { status = 200, body, headers: own = {} } = answer(one, heard.length);
    const type = typeof body === 'string' ? 'text/plain' : 'application/json';
    response.writeHead(status, { 'content-type': type, ...own });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const addresses = ['127.0.0.1'];
  const methods = ['GET', 'PUT'];
  const guard = createGuard(
    { connect: [{ scheme: 'http', host: 'pets.test', port, methods, addresses }] },
    { lookup: async () => addresses },
  );
  const all = createIntegrations({ guardOf: (as) => (as === 'ada' ? guard : createGuard({})) });
  const registered = registerOpenApi(all, {
    ...{ name: 'pets', document: PETS, baseUrl: `http://pets.test:${port}/v1/`, addresses },
    headers: (as) => ({ authorization: `Bearer of-${as}` }),
    ...more,
  });
  return { all, heard, registered };
}

describe('[IG7] a document', () => {
  test('[IG7] what can be called is registered, and of the rest it is said why not', async () => {
    const { registered, all } = await open(() => ({}));
    expect(registered.names).toEqual(['pets.showPet', 'pets.changePet']);
    expect(registered.skipped).toEqual([
      { operation: 'needsCookie', why: 'it needs a parameter in cookie' },
      { operation: 'post /odd', why: 'it has no operationId' },
      { operation: 'leadsOut', why: 'it refers to http://evil.test/x.json' },
      { operation: 'lostPart', why: 'its path has {a}, and no parameter is called so' },
    ]);
    expect(all.list()).toMatchObject([
      { name: 'pets.showPet', version: '2.1.0', idempotent: true },
      { name: 'pets.changePet', idempotent: false },
    ]);
  });

  test.each([
    ['', /no OpenAPI/],
    ['{ "openapi": "2.0" }', /no OpenAPI/],
    ['{ broken', /neither JSON nor YAML/],
    [{ openapi: '3.1.0', paths: {} }, /names no server/],
    [{ openapi: '3.1.0', servers: [{ url: 'file:///etc' }] }, /names no server/],
    [{ openapi: '3.1.0', servers: [{ url: 'https://{tenant}.x.org' }] }, /names no server/],
  ])('[IG7] %j is refused', (document, why) => {
    const all = createIntegrations({ guardOf: () => null });
    expect(() => registerOpenApi(all, { name: 'x', document })).toThrow(why);
  });

  test('[IG7] a document that is small and stands for much is refused', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
    for (let i = 1; i < 12; i++) {
      lines.push(
        `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      );
    }
    expect(() => readDocument(['openapi: 3.1.0', ...lines].join('\n'))).toThrow(/alias/i);
  });

  test('[IG7] an operation that is wanted and not there leaves nothing registered', async () => {
    await expect(open(() => ({}), { only: ['showPet', 'sellPet'] })).rejects.toThrow(
      'pets.sellPet: there is none',
    );
  });
});

describe('[IG7] a call', () => {
  test('[IG7] goes out as the document says, and comes back by its schema', async () => {
    const { all, heard } = await open(({ method }) =>
      method === 'GET' ? { body: { name: 'Rex', owner: null } } : { status: 204 },
    );
    const input = { petId: 'a/b ?#', tag: ['x', 'y'], 'X-Trace': 't1' };
    expect(await all.invoke('pets.showPet', input, asAda)).toEqual({ name: 'Rex', owner: null });
    expect(await all.invoke('pets.changePet', { petId: '7', body: { name: 'Max' } }, asAda)).toBe(
      null,
    );
    expect(heard).toMatchObject([
      {
        url: '/v1/pets/a%2Fb%20%3F%23?tag=x&tag=y',
        headers: { 'x-trace': 't1', authorization: 'Bearer of-ada' },
      },
      { method: 'PUT', url: '/v1/pets/7', body: '{"name":"Max"}' },
    ]);
    expect(heard[1]?.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([
    [{ petId: '..' }, 'integration.input'],
    [{ petId: '%2e%2E' }, 'integration.input'],
    [{ petId: '.' }, 'integration.input'],
    [{ petId: '' }, 'integration.input'],
    [{}, 'integration.input'],
    [{ petId: 7 }, 'integration.input'],
    [{ petId: 'a', admin: true }, 'integration.input'],
    [{ petId: 'a', Authorization: 'mine' }, 'integration.input'],
    [{ petId: 'a', 'X-Trace': 'a\r\nHost: evil' }, 'integration.failed'],
  ])('[IG7] with %j nothing is sent', async (input, code) => {
    const { all, heard } = await open(() => ({ body: { name: 'Rex' } }));
    await expect(all.invoke('pets.showPet', input, asAda)).rejects.toMatchObject({ code });
    expect(heard).toEqual([]);
  });

  test('[IG7] by who may not go there nothing is sent', async () => {
    const { all, heard } = await open(() => ({ body: { name: 'Rex' } }));
    await expect(all.invoke('pets.showPet', { petId: '1' }, { as: 'bob' })).rejects.toMatchObject({
      code: 'integration.refused',
    });
    expect(heard).toEqual([]);
  });

  test('[IG7] an answer that is not as promised, too large or a redirection is an error', async () => {
    const answers = [
      { body: { owner: 'x' } },
      { body: 'x'.repeat(11 * 1024 * 1024) },
      { status: 302, headers: { location: 'http://169.254.169.254/' } },
    ];
    const { all } = await open((_, count) => answers[count - 1] ?? {});
    const call = () => all.invoke('pets.showPet', { petId: '1' }, asAda);
    await expect(call()).rejects.toMatchObject({ code: 'integration.output' });
    await expect(call()).rejects.toThrow(/over \d+ bytes/);
    await expect(call()).rejects.toMatchObject({ code: 'integration.refused' });
  });

  test('[IG7] [IG5] what is overloaded is asked again when it says, what is wrong is not', async () => {
    const { all, heard } = await open(
      (_, count) =>
        count === 1
          ? { status: 503, body: 'busy', headers: { 'retry-after': '0.05' } }
          : count === 2
            ? { body: { name: 'Rex' } }
            : { status: 404, body: 'no such pet' },
      { retries: 2 },
    );
    expect(await all.invoke('pets.showPet', { petId: '1' }, asAda)).toEqual({ name: 'Rex' });
    expect(heard).toHaveLength(2);
    expect(heard[0]?.headers['idempotency-key']).toBe(heard[1]?.headers['idempotency-key']);
    await expect(all.invoke('pets.showPet', { petId: '1' }, asAda)).rejects.toMatchObject({
      ...{ isTerminal: true, message: expect.stringContaining('answered 404: no such pet') },
    });
    expect(heard).toHaveLength(3);
  });

  test('[IG7] a parameter named like what every object has is a parameter', () => {
    const parameters = [{ name: 'constructor', in: 'query', required: false }] as const;
    const url = urlOf(new URL('http://x.test'), { path: '/', parameters }, {});
    expect(url).toBe('http://x.test/');
  });
});

test('[IG7] the hub itself, by the document that it serves', async () => {
  const hub = await openRunningHub();
  const document = await (await fetch(`${hub.url}/openapi.json`)).json();
  const guard = createGuard({
    connect: [{ scheme: 'http', host: '127.0.0.1', port: hub.port, methods: ['POST'] }],
  });
  const all = createIntegrations({ guardOf: () => guard });
  const { names, skipped } = registerOpenApi(all, {
    ...{ name: 'hub', document, baseUrl: hub.url },
    headers: (as) => hub.as(as),
  });
  expect(names.length).toBeGreaterThan(50);
  // They are streams and pages, and have no operationId.
  expect(skipped.map(({ operation }) => operation)).toEqual(['get /health', 'get /v1/stream']);
  const [send = ''] = names.filter((name) => /channels[._]send$/.test(name));
  const sent = await all.invoke(send, { body: { channel: 'talk', body: { text: 'hi' } } }, asAda);
  expect(sent).toMatchObject({ message_id: expect.any(String) });
  await hub.close();
});
