import { applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiResponse } from '@nestjs/swagger';
import { statusClass } from '../wire-error.js';
import { RATE_LIMIT_HEADERS } from './answer-headers.js';

const REFERENCE = '#/components/schemas/';

/** The bodies of errors, as components of the OpenAPI document. */
export const ERROR_SCHEMAS = {
  Error: {
    type: 'object',
    description: 'Branch on `code` where it is present, else on `error`; `message` is for people.',
    required: ['statusCode', 'error', 'message'],
    properties: {
      statusCode: { type: 'integer', examples: [404] },
      code: { type: 'string', examples: ['FST_ERR_VALIDATION'] },
      error: { type: 'string', description: 'The status class, or a cause of the route.', examples: ['not_found'] },
      message: { type: 'string' },
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
    properties: { error: { type: 'string' }, message: { type: 'string' } },
  },
  InternalError: {
    type: 'object',
    description: 'The cause is in the service log under the `x-request-id` of the answer.',
    required: ['statusCode', 'error', 'message'],
    properties: {
      statusCode: { type: 'integer', const: 500 },
      error: { type: 'string', const: 'Internal Server Error' },
      message: { type: 'string' },
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
  description: 'Seconds to wait before the request is worth repeating, at most 3600. Absent where waiting does not help: a cap for a whole life.',
  schema: { type: 'integer', minimum: 1, maximum: 3600 },
};

/** What a session pass may be answered on any route, whether that has a budget of its own or not. */
const COUNTED: ReadonlySet<number> = new Set([400, 401, 403, 413, 415, 429]);

/** Marks the causes of a status in the raw OpenAPI document; taken out again when the document is finished. */
const CAUSES_EXTENSION = 'x-causes-';

type ErrorSchema = keyof typeof ERROR_SCHEMAS;

/**
 * Documents answers with the general error body. 400 (where the request carries anything), 401, 403, 429 and 503
 * (unless the route is public), 413 and 415 (where there is a body) and 500 are documented anyway.
 */
export function ApiErrors(...statuses: readonly number[]): MethodDecorator & ClassDecorator {
  return applyDecorators(...statuses.map((status) => ApiResponse({ status, ...errorAnswer(status, 'Error') })));
}

/**
 * Documents an answer whose body is `{error: <one of the causes>, message}` alone; where the operation has the
 * status with the general body too, either is possible.
 */
export function ApiCauses(status: number, ...causes: readonly string[]): MethodDecorator & ClassDecorator {
  return ApiExtension(`${CAUSES_EXTENSION}${status}`, causes);
}

/** An error as an object of the document. */
export function errorAnswer(status: number, ...schemas: readonly [ErrorSchema, ...ErrorSchema[]]): ErrorAnswer {
  const references = schemas.map((schema) => ({ $ref: `${REFERENCE}${schema}` }));
  const [only, ...others] = references;
  return {
    description: DESCRIPTIONS[status] ?? statusClass(status),
    headers: {
      ...(COUNTED.has(status) && Object.fromEntries(RATE_LIMIT_HEADERS.map(({ name, ...header }) => [name, header]))),
      ...((status === 429 || status === 503) && { 'Retry-After': RETRY_AFTER }),
    },
    content: { 'application/json': { schema: others.length === 0 && only ? only : { anyOf: references } } },
  };
}

interface ErrorAnswer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, object>>;
  readonly content: { readonly 'application/json': { readonly schema: object } };
}

/** Takes the marks of `ApiCauses` out of an operation. Of all its answers, those that have causes. */
export function takeCauses(operation: { readonly responses: object }): Record<string, ErrorAnswer> {
  const answers: Record<string, ErrorAnswer> = {};
  for (const [key, causes] of Object.entries(operation)) {
    if (!key.startsWith(CAUSES_EXTENSION)) continue;
    Reflect.deleteProperty(operation, key);
    const status = key.slice(CAUSES_EXTENSION.length);
    const isGeneralToo = status in operation.responses;
    const answer = isGeneralToo
      ? errorAnswer(Number(status), 'Error', 'CauseError')
      : errorAnswer(Number(status), 'CauseError');
    const note = `${isGeneralToo ? 'Without `statusCode`, `error`' : '`error`'} is one of: ${(causes as string[]).join(', ')}.`;
    answers[status] = { ...answer, description: `${answer.description} ${note}` };
  }
  return answers;
}
