import { applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiResponse } from '@nestjs/swagger';
import type { DomainError } from '../../errors/index.js';
import { generalError, statusClass, toWireError } from '../wire-error.js';

const REFERENCE = '#/components/schemas/';

/** The bodies of errors, as components of the OpenAPI document. */
export const ERROR_SCHEMAS = {
  Error: {
    type: 'object',
    description: 'Branch on `code` where it is present, else on `error`; `message` is for people.',
    required: ['statusCode', 'error', 'message'],
    properties: {
      statusCode: { type: 'integer', description: 'The status of the answer.' },
      code: { type: 'string', description: 'The cause, where the status alone does not tell it.' },
      error: { type: 'string', description: 'The status class, or a cause of the route.' },
      message: { type: 'string', description: 'What was wrong and what is allowed, for people.' },
      names: {
        type: 'array',
        items: { type: 'string' },
        description: 'Where the error is about several named things: their names.',
      },
    },
  },
  CauseError: {
    type: 'object',
    description: 'An error of a route that names its cause in `error`, without `statusCode` and `code`.',
    required: ['error', 'message'],
    properties: {
      error: { type: 'string', description: 'The cause.' },
      message: { type: 'string', description: 'What was wrong and what is allowed, for people.' },
    },
  },
  InternalError: {
    type: 'object',
    description: 'The cause is in the service log under the `x-request-id` of the answer.',
    required: ['statusCode', 'error', 'message'],
    properties: {
      statusCode: { type: 'integer', const: 500, description: 'The status of the answer.' },
      error: { type: 'string', const: 'Internal Server Error', description: 'The status class.' },
      message: { type: 'string', description: 'Where the cause can be found.' },
    },
  },
};

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request is not valid; the message names the field.',
  401: 'The credential is missing, invalid or expired.',
  403: 'The credential does not allow this.',
  404: 'There is no such resource, or it is not visible to the caller.',
  409: 'Conflicts with the current state.',
  410: 'No longer there.',
  413: 'The body is too large.',
  415: 'The content type is not supported.',
  422: 'A valid request that cannot be processed.',
  429: 'A rate limit or quota is used up; `Retry-After` says how many seconds to wait.',
  500: 'The service failed.',
  502: 'A service that this depends on failed.',
  503: 'Not available at the moment; `Retry-After` says how many seconds to wait.',
  504: 'A service that this depends on did not answer in time.',
};

const RETRY_AFTER = {
  description:
    'Seconds to wait before the request is worth repeating, at most 3600. Absent where waiting does not help: a cap for a whole life.',
  schema: { type: 'integer', minimum: 1, maximum: 3600 },
};

/** The most frequent code of a status, for the examples; routes document other codes. */
const CODES: Readonly<Record<number, string>> = {
  400: 'FST_ERR_VALIDATION',
  401: 'api_key_invalid',
  413: 'FST_ERR_CTP_BODY_TOO_LARGE',
  415: 'FST_ERR_CTP_INVALID_MEDIA_TYPE',
  429: 'rate_limited',
};

/** Marks the causes of a status in the raw OpenAPI document; `takeCauses` removes the mark. */
const CAUSES_EXTENSION = 'x-causes-';

type ErrorSchema = keyof typeof ERROR_SCHEMAS;

/**
 * Documents responses with the general error body: by status, or by an error that the route throws, which becomes the example.
 * The document has these for every operation: 400 (if the request has a body or parameters), 401, 403, 429 and 503 (unless the
 * route is public), 413 and 415 (if there is a body), and 500.
 */
export function ApiErrors(...answers: readonly (number | DomainError)[]): MethodDecorator & ClassDecorator {
  const examples = new Map<number, Record<string, ErrorExample>>();
  for (const answer of answers) {
    const { status, body } = typeof answer === 'number' ? { status: answer } : toWireError(answer);
    const known = examples.get(status) ?? {};
    const name = String(body?.['code'] ?? body?.['error']);
    examples.set(status, body ? { ...known, [name]: { value: body } } : known);
  }
  return applyDecorators(
    ...[...examples].map(([status, ofStatus]) => {
      const answer = errorAnswer(status, 'Error');
      return ApiResponse({ status, ...(Object.keys(ofStatus).length > 0 ? withExamples(answer, ofStatus) : answer) });
    }),
  );
}

/** Documents a response with the body `{error: <one of the causes>, message}`, beside the general body if `ApiErrors` has the status. */
export function ApiCauses(status: number, ...causes: readonly string[]): MethodDecorator & ClassDecorator {
  return ApiExtension(`${CAUSES_EXTENSION}${status}`, causes);
}

interface ErrorExample {
  readonly value: unknown;
}

interface ErrorContent {
  readonly schema: object;
  readonly examples?: Readonly<Record<string, ErrorExample>>;
}

interface ErrorAnswer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, object>>;
  readonly content: { readonly 'application/json': ErrorContent };
}

/** The OpenAPI object of an error response. */
export function errorAnswer(status: number, ...schemas: readonly [ErrorSchema, ...ErrorSchema[]]): ErrorAnswer {
  const references = schemas.map((schema) => ({ $ref: `${REFERENCE}${schema}` }));
  const [only, ...others] = references;
  return {
    description: describedStatus(status),
    ...((status === 429 || status === 503) && { headers: { 'Retry-After': RETRY_AFTER } }),
    content: { 'application/json': { schema: others.length === 0 && only ? only : { anyOf: references } } },
  };
}

/** Adds an example to responses with the general body for which the route declares none. */
export function exemplifyErrors(operation: { readonly responses: object; readonly 'x-scope'?: string }): void {
  for (const [key, answer] of Object.entries(operation.responses as Record<string, Partial<ErrorAnswer>>)) {
    const status = Number(key);
    const content = answer.content?.['application/json'];
    if (!content || !JSON.stringify(content.schema).includes(`${REFERENCE}Error"`) || content.examples) continue;
    const code = status === 403 ? forbiddenCode(operation) : CODES[status];
    const { body } = generalError(status, describedStatus(status), code);
    Object.assign(content, { examples: { [code ?? String(body['error'])]: { value: body } } });
  }
}

/** A route without a capability refuses a key only because of its allowlist of agents. */
function forbiddenCode(operation: { readonly 'x-scope'?: string }): string {
  return operation['x-scope'] === 'none' ? 'forbidden_by_agent_allowlist' : 'forbidden_by_key_role';
}

function withExamples(answer: ErrorAnswer, examples: Readonly<Record<string, ErrorExample>>): ErrorAnswer {
  const content = answer.content['application/json'];
  return { ...answer, content: { 'application/json': { ...content, examples: { ...content.examples, ...examples } } } };
}

function describedStatus(status: number): string {
  return DESCRIPTIONS[status] ?? statusClass(status);
}

/** Removes the marks of `ApiCauses` from an operation. @returns the responses that they describe, by status */
export function takeCauses(operation: { readonly responses: object }): Record<string, ErrorAnswer> {
  const answers: Record<string, ErrorAnswer> = {};
  for (const [key, causes] of Object.entries(operation)) {
    if (!key.startsWith(CAUSES_EXTENSION)) continue;
    Reflect.deleteProperty(operation, key);
    const status = Number(key.slice(CAUSES_EXTENSION.length));
    answers[status] = answerWithCauses(status, causes as string[], status in operation.responses);
  }
  return answers;
}

function answerWithCauses(status: number, causes: readonly string[], isGeneralToo: boolean): ErrorAnswer {
  const answer = isGeneralToo ? errorAnswer(status, 'CauseError', 'Error') : errorAnswer(status, 'CauseError');
  const note = `${isGeneralToo ? 'Without `statusCode`, `error`' : '`error`'} is one of: ${causes.join(', ')}.`;
  const message = describedStatus(status);
  const ofCauses = causes.map((error) => [error, { value: { error, message } }] as const);
  const general = { value: generalError(status, message, CODES[status]).body };
  const examples = {
    ...(isGeneralToo && { [CODES[status] ?? statusClass(status)]: general }),
    ...Object.fromEntries(ofCauses),
  };
  return withExamples({ ...answer, description: `${answer.description} ${note}` }, examples);
}
