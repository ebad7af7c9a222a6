import { applyDecorators } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { statusClass } from '../wire-error.js';

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

/** Documents answers with the general error body. 401 and 429 (unless the route is public), 413 and
 * 415 (where there is a body) and 500 are documented anyway. */
export function ApiErrors(...statuses: readonly number[]): MethodDecorator & ClassDecorator {
  return applyDecorators(...statuses.map((status) => errorResponse(status, 'Error', undefined)));
}

/** Documents an answer whose body is `{error: <one of the causes>, message}` alone. */
export function ApiCauses(status: number, ...causes: readonly string[]): MethodDecorator & ClassDecorator {
  return errorResponse(status, 'CauseError', `\`error\` is one of: ${causes.join(', ')}.`);
}

function errorResponse(
  status: number,
  schema: keyof typeof ERROR_SCHEMAS,
  note: string | undefined,
): MethodDecorator & ClassDecorator {
  return ApiResponse({
    status,
    description: [DESCRIPTIONS[status] ?? statusClass(status), note].filter(Boolean).join(' '),
    content: { 'application/json': { schema: { $ref: `${REFERENCE}${schema}` } } },
  });
}

/** The same as an object of the document, for answers that every operation has. */
export function errorAnswer(status: number, schema: keyof typeof ERROR_SCHEMAS): object {
  return {
    description: DESCRIPTIONS[status] ?? statusClass(status),
    content: { 'application/json': { schema: { $ref: `${REFERENCE}${schema}` } } },
  };
}
