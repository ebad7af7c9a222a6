import { ApiExtension } from '@nestjs/swagger';

/** A response header of an operation. */
export interface AnswerHeader {
  readonly name: string;
  readonly description: string;
  readonly schema: object;
  /** Only successful responses have it. Otherwise refusals have it too, from those of the guard on. */
  readonly onSuccessOnly?: true;
  /** Depends on the credential, so a successful response may lack it. */
  readonly optional?: true;
  /** Responses that are sent before the guard runs have it too. */
  readonly onEveryAnswer?: true;
}

/** Describe the budget that a request counted against; of several, the one with the fewest requests left. */
export const RATE_LIMIT_HEADERS: readonly AnswerHeader[] = [
  budgetHeader('RateLimit-Limit', 'How many requests the budget allows in a window.'),
  budgetHeader('RateLimit-Remaining', 'How many of them are left.'),
  budgetHeader('RateLimit-Reset', 'Seconds until the window ends.'),
];

function budgetHeader(name: string, description: string): AnswerHeader {
  return { name, description, schema: { type: 'integer' }, onEveryAnswer: true };
}

/** Marks the headers in the raw OpenAPI document; `documentHeaders` removes the mark. */
const HEADER_EXTENSION = 'x-answer-header-';
/** Statuses of responses that are sent before the guard runs. */
const BEFORE_THE_GUARD = new Set(['401', '413', '415']);

const REQUEST_ID = {
  description: 'Names the request in the service log: the one it was sent with, else a new one.',
  required: true,
  schema: { type: 'string', minLength: 1, maxLength: 128 },
};

interface Answer {
  headers?: Record<string, object>;
}

/** Documents a response header; its options decide which responses have it. */
export function ApiAnswerHeader({ name, ...header }: AnswerHeader): MethodDecorator {
  return ApiExtension(`${HEADER_EXTENSION}${name}`, header);
}

/** Adds the headers of `ApiAnswerHeader`, and `x-request-id`, to the responses of an operation. */
export function documentHeaders(operation: { readonly responses: object }): void {
  const marks = Object.entries(operation).filter(([key]) => key.startsWith(HEADER_EXTENSION));
  for (const [key] of marks) Reflect.deleteProperty(operation, key);
  for (const [status, answer] of Object.entries(operation.responses as Record<string, Answer>)) {
    const isSuccess = status.startsWith('2');
    const headers: Record<string, object> = { 'x-request-id': REQUEST_ID };
    for (const [key, value] of marks) {
      const {
        onSuccessOnly = false,
        optional = false,
        onEveryAnswer = false,
        ...header
      } = value as Omit<AnswerHeader, 'name'>;
      if ((BEFORE_THE_GUARD.has(status) && !onEveryAnswer) || (onSuccessOnly && !isSuccess)) continue;
      headers[key.slice(HEADER_EXTENSION.length)] = { ...header, ...(isSuccess && !optional && { required: true }) };
    }
    answer.headers = { ...headers, ...answer.headers };
  }
}
