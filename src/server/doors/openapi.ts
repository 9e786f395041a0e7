/** `/openapi.json`: the HTTP door described from the operation table. */
import { z } from 'zod';
import { operationList } from '../../wire/operations/table.ts';

let made: Record<string, unknown> | null = null;

/** Made on the first question: turning every schema into JSON Schema takes a moment. */
export function openApi(version: string): Record<string, unknown> {
  made ??= describe(version);
  return made;
}

function describe(version: string): Record<string, unknown> {
  const paths: Record<string, unknown> = {
    '/health': {
      get: {
        summary: 'Is the hub up?',
        security: [],
        responses: { 200: { description: 'It is.' } },
      },
    },
    '/v1/stream': {
      get: {
        summary: 'Messages as server-sent events; resumes from Last-Event-ID',
        parameters: [
          {
            name: 'from',
            in: 'query',
            schema: { type: 'string' },
            description: 'now, inbox or a position',
          },
          {
            name: 'channels',
            in: 'query',
            schema: { type: 'string' },
            description: 'comma-separated names and globs; `channel` takes one and may be repeated',
          },
          { name: 'receipts', in: 'query', schema: { type: 'string', enum: ['0', '1'] } },
          { name: 'turns', in: 'query', schema: { type: 'string', enum: ['0', '1'] } },
        ],
        responses: { 200: { description: 'text/event-stream' }, default: errorResponse() },
      },
    },
  };
  for (const operation of operationList) {
    if (operation.isStreaming) continue;
    paths[`/v1/ops/${operation.name}`] = {
      post: {
        operationId: operation.id,
        summary: operation.title,
        description: operation.doc,
        requestBody: {
          content: { 'application/json': { schema: jsonSchema(operation.input, 'input') } },
        },
        responses: {
          200: {
            description: 'Done.',
            content: { 'application/json': { schema: jsonSchema(operation.output, 'output') } },
          },
          default: errorResponse(),
        },
      },
    };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Synod', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    security: [{ bearer: [] }],
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: {
        Error: {
          type: 'object',
          required: ['error_code', 'message'],
          properties: {
            error_code: { type: 'string' },
            message: { type: 'string' },
            detail: { type: 'object' },
            retry_after: { type: 'number' },
          },
        },
      },
    },
    paths,
  };
}

function errorResponse(): Record<string, unknown> {
  return {
    description: 'Refused; docs/ERRORS.md explains detail.reason.',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}
