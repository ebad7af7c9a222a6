import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError, ERROR_STATUS } from '../errors/index.js';
import { errorAnswer } from './docs/api-errors.js';

/** Longer than any code; what is longer is not looked at. */
const MAX_PARAMETER_LENGTH = 8_192;
/** Nothing is loaded, run, framed or sent. */
const PAGE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** How a page is described in the OpenAPI document. */
export const SIGN_IN_PAGE = { content: { 'text/html': { schema: { type: 'string' } } } } as const;
/** A query that no route takes is refused before the route is asked. */
export const SIGN_IN_PAGE_OR_ERROR = { content: { ...SIGN_IN_PAGE.content, ...errorAnswer(400, 'Error').content } };

export interface SignInCallback {
  /** @returns where the browser goes on. @throws DomainError, whose message becomes a page */
  readonly complete: (parameter: (name: string) => string | undefined) => Promise<string>;
  readonly failed: (error: DomainError) => void;
}

/** Answers a browser that comes back from signing in elsewhere: it is sent on, or reads on a page why not. */
export async function answerSignInCallback(request: FastifyRequest, reply: FastifyReply, { complete, failed }: SignInCallback): Promise<void> {
  void reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  // Whoever only looks where a link leads must not use up the sign-in.
  if (request.method !== 'GET') {
    await reply.status(200).send();
    return;
  }
  try {
    const redirectUrl = await complete(parametersOf(request.query));
    await reply.status(302).header('location', new URL(redirectUrl).href).send();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    failed(error);
    await sendPage(reply, error);
  }
}

/** A parameter that comes twice is as good as none. */
function parametersOf(query: unknown): (name: string) => string | undefined {
  const parameters = query as Readonly<Record<string, unknown>>;
  return (name) => {
    const value = parameters[name];
    return typeof value === 'string' && value.length <= MAX_PARAMETER_LENGTH ? value : undefined;
  };
}

/** The message is of our own words alone: nothing that a request or the other server sent. */
async function sendPage(reply: FastifyReply, { kind, message }: DomainError): Promise<void> {
  const reason = message.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  await reply
    .status(ERROR_STATUS[kind])
    .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': PAGE_POLICY, 'x-content-type-options': 'nosniff' })
    .send(`<!doctype html>
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
