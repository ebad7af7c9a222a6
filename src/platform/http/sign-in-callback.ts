import { applyDecorators } from '@nestjs/common';
import { ApiOperation, type ApiOperationOptions, ApiQuery, ApiResponse } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError, ERROR_STATUS } from '../errors/index.js';
import type { AuthorizationResponse } from '../oauth/index.js';
import { errorAnswer } from './docs/api-errors.js';
import { ApiExample } from './docs/api-example.js';

/** Longer than any code; a longer parameter is ignored. */
const MAX_PARAMETER_LENGTH = 8_192;
/** The page loads, runs, frames and sends nothing. */
const PAGE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE = { content: { 'text/html': { schema: { type: 'string' } } } } as const;
/** A query with text that cannot be stored is refused before the route runs. */
const PAGE_OR_ERROR = { content: { ...PAGE.content, ...errorAnswer(400, 'Error').content } };

export interface SignInCallback {
  /** @returns the URL to which the browser is redirected. @throws DomainError, whose message becomes a page */
  readonly complete: (response: AuthorizationResponse) => Promise<string>;
  readonly failed: (error: DomainError) => void;
}

/**
 * Documents a route to which an authorization server redirects browsers.
 * @param server its name in the document
 */
export function ApiSignInCallback(
  server: string,
  operation: ApiOperationOptions,
  parameters: Readonly<Record<string, string>> = {},
): MethodDecorator {
  const described = {
    state: 'Names the sign-in that was begun.',
    code: 'What the sign-in is completed with.',
    ...parameters,
    error: 'Why the person or the server did not go on.',
  };
  return applyDecorators(
    ApiExample({ needs: `a browser that comes from ${server}` }),
    ApiOperation(operation),
    ...Object.entries(described).map(([name, description]) =>
      ApiQuery({ name, required: false, description, schema: { type: 'string' } }),
    ),
    ApiResponse({ status: 302, description: 'The sign-in is completed; to the redirectUrl that it was begun with.' }),
    ApiResponse({ status: 400, description: 'A page that says why the sign-in was not completed.', ...PAGE_OR_ERROR }),
    ApiResponse({ status: 502, description: `A page: ${server} did not do its part.`, ...PAGE }),
    ApiResponse({ status: 503, description: 'A page: the service is not available at the moment.', ...PAGE }),
  );
}

/** Answers a browser that returns from signing in at another server: with a redirect, or a page with the reason of the failure. */
export async function answerSignInCallback(
  request: FastifyRequest,
  reply: FastifyReply,
  { complete, failed }: SignInCallback,
): Promise<void> {
  void reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  // A link preview must not use up the sign-in.
  if (request.method !== 'GET') {
    await reply.status(200).send();
    return;
  }
  try {
    const redirectUrl = await complete(responseIn(request.query));
    await reply.status(302).header('location', new URL(redirectUrl).href).send();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    failed(error);
    await sendPage(reply, error);
  }
}

/** A parameter that is given twice counts as absent. */
function responseIn(query: unknown): AuthorizationResponse {
  const { state, code, iss, error } = query as Readonly<Record<string, unknown>>;
  const parameter = (value: unknown): string | undefined =>
    typeof value === 'string' && value.length <= MAX_PARAMETER_LENGTH ? value : undefined;
  return { state: parameter(state), code: parameter(code), iss: parameter(iss), error: parameter(error) };
}

/** The message contains only words of this service: no text of the request or of the other server. */
async function sendPage(reply: FastifyReply, { kind, message }: DomainError): Promise<void> {
  const reason = message.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  await reply.status(ERROR_STATUS[kind]).headers({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': PAGE_POLICY,
    'x-content-type-options': 'nosniff',
  }).send(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The sign-in was not completed</title>
</head>
<body>
<main>
<h1>The sign-in was not completed</h1>
<p>${reason}</p>
</main>
</body>
</html>
`);
}
