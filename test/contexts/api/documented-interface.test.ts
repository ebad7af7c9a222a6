import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startService, type TestService } from '../../support/harness.js';
import { DocumentedSchemas, type OpenApi } from '../../support/documented-schemas.js';
import { isSaid, type NamedOperation, operationsOf, undescribedProperties } from './documented-interface.js';

const STATUS_CLASSES: Readonly<Record<string, string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  410: 'gone',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  422: 'unprocessable_entity',
  429: 'too_many_requests',
  500: 'Internal Server Error',
  502: 'bad_gateway',
  503: 'service_unavailable',
  504: 'gateway_timeout',
};
/** The routes of sections have causes of their own in `error`. */
const OWN_CAUSES = /^(agent|section)_not_found$|_section_names$|^section_name_taken$/;
const BUDGET = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
/** The routes that count against a budget of the service document. */
const COUNTED =
  /^POST \/v1\/threads$|^POST .*\/runs(\/stream)?$|^POST \/v1\/chat\/|^POST \/v1\/files\/upload$|^POST \/v1\/sessions|\/ag-ui$|^GET .*\/traces(\/export)?$|\/messages(\/\{messageId\}\/trace)?$/;

let service: TestService;
let schemas: DocumentedSchemas;
let operations: NamedOperation[];
beforeAll(async () => {
  service = await startService();
  schemas = new DocumentedSchemas((await service.http<OpenApi>('GET', '/v1/openapi.json')).body);
  operations = operationsOf(schemas.document);
});
afterAll(() => service.close());

describe('the OpenAPI document', () => {
  it('describes every property of every schema', () => {
    expect(undescribedProperties(schemas.document)).toEqual([]);
  });

  it('describes every operation and its parameters and responses', () => {
    for (const { name, summary, parameters = [], responses } of operations) {
      expect({ name, summary: isSaid(summary) }).toEqual({ name, summary: true });
      const silent = parameters.filter(({ description }) => !isSaid(description)).map((parameter) => parameter.name);
      expect({ name, silent }).toEqual({ name, silent: [] });
      const bare = Object.entries(responses).filter(([, { description }]) => !isSaid(description));
      expect({ name, bare }).toEqual({ name, bare: [] });
    }
  });

  it('has a schema for every successful response with a body', () => {
    for (const { name, responses } of operations) {
      for (const [status, { content }] of Object.entries(responses)) {
        if (!status.startsWith('2') || (status === '204' && content === undefined)) continue;
        const types = Object.values(content ?? {});
        expect({ name, status, types: types.length > 0 && types.every(({ schema }) => schema !== undefined) }).toEqual({
          name,
          status,
          types: true,
        });
      }
    }
  });

  it('has an example, which its schema allows, of every body and every path parameter', () => {
    for (const { name, parameters = [], requestBody } of operations) {
      const lacking = parameters.filter((parameter) => parameter.in === 'path' && parameter.example === undefined);
      expect({ name, lacking: lacking.map((parameter) => parameter.name) }).toEqual({ name, lacking: [] });
      const body = requestBody?.content?.['application/json'];
      if (!body) continue;
      const examples = body.examples ? Object.values(body.examples).map(({ value }) => value) : [body.example];
      for (const example of examples)
        expect({ name, example, allowed: schemas.allowsBody(routeOf(name), example) }).toEqual({
          name,
          example,
          allowed: true,
        });
    }
  });

  it('has examples of errors that belong to their status', () => {
    for (const { name, responses } of operations) {
      for (const [status, { content }] of Object.entries(responses)) {
        const type = content?.['application/json'];
        if (Number(status) < 400 || !type?.examples) continue;
        for (const { value } of Object.values(type.examples)) {
          const { statusCode, error } = value as { statusCode?: number; error: string };
          expect({ name, statusCode: statusCode ?? Number(status) }).toEqual({ name, statusCode: Number(status) });
          const fits = statusCode === undefined || error === STATUS_CLASSES[status] || OWN_CAUSES.test(error);
          expect({ name, status, error, fits }).toEqual({ name, status, error, fits: true });
          expect({ name, wrong: schemas.wrongBodyOf(routeOf(name), Number(status), value) }).toEqual({
            name,
            wrong: undefined,
          });
        }
      }
    }
  });

  it('has an example of every error of routes that are not public', () => {
    const general = operations.filter(({ responses }) => '401' in responses);
    for (const { name, responses } of general) {
      const without = Object.entries(responses).filter(
        ([status, { content }]) =>
          Number(status) >= 400 &&
          status !== '500' &&
          content?.['application/json'] &&
          !content['application/json'].examples,
      );
      expect({ name, without: without.map(([status]) => status) }).toEqual({ name, without: [] });
    }
  });

  it('declares the headers of budgets on every response of routes with one, and Retry-After where waiting helps', () => {
    for (const { name, responses } of operations) {
      for (const [status, { headers = {} }] of Object.entries(responses)) {
        const sent = BUDGET.filter((header) => header in headers);
        expect({ name, status, sent }).toEqual({ name, status, sent: COUNTED.test(name) ? BUDGET : [] });
        if (!['429', '503'].includes(status))
          expect({ name, status, wait: 'Retry-After' in headers }).toEqual({ name, status, wait: false });
      }
    }
  });

  it('has the types of the events of every stream', () => {
    const streams = operations.filter(({ responses }) => responses['200']?.content?.['text/event-stream']);
    expect(streams.map(({ name }) => name).sort()).toEqual([
      'GET /v1/threads/{threadId}/runs/{runId}/stream',
      'POST /v1/agents/{agentId}/ag-ui',
      'POST /v1/chat/completions',
      'POST /v1/threads/{threadId}/runs/stream',
    ]);
    for (const { name, responses } of streams) {
      const wrong = (data: object) => schemas.wrongEvent(routeOf(name), 200, JSON.stringify(data));
      expect(responses['200']?.content?.['text/event-stream']?.schema).toMatchObject({ oneOf: expect.any(Array) });
      expect(wrong({ type: 'SOMETHING_ELSE' })).toBeDefined();
      if (name.endsWith('completions')) expect(schemas.wrongEvent(routeOf(name), 200, '[DONE]')).toBeUndefined();
      else expect(wrong({ type: 'RUN_ERROR', message: 'Gone.', code: 'internal' })).toBeUndefined();
    }
  });

  it('lists the values of a field where they are known', () => {
    const { ManagedMcpBody, ToolsBody } = (
      schemas.document as unknown as { components: { schemas: Record<string, { properties: object }> } }
    ).components.schemas;
    expect(ManagedMcpBody?.properties).toMatchObject({ app: { enum: expect.arrayContaining(['everything']) } });
    expect(ToolsBody?.properties).toMatchObject({ integrations: { items: { enum: ['webSearch'] } } });
  });
});

/** The name of the route in the harness. */
function routeOf(name: string): string {
  return name.replace(/\{(\w+)\}/g, ':$1');
}
