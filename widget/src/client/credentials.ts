import { ChatError, readError } from './chat-error.js';
import type { CredentialsRequest, SessionCredentials, SessionOptions } from './options.js';
import type { Seams } from './seams.js';

const TRIES = 3;
const FIRST_PAUSE_MS = 500;
/** Ten years. A larger value is not a lifetime, but probably the time when the pass expires. */
const MAX_LIFE_S = 315_360_000;

/**
 * Asks the customer's server for credentials. A refusal (4xx) is final; other failures are repeated a few times.
 * @throws ChatError `credentials`, terminal
 */
export async function askForCredentials(
  { credentials }: SessionOptions,
  request: CredentialsRequest,
  seams: Seams,
  signal: AbortSignal,
): Promise<SessionCredentials> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const answer =
        typeof credentials === 'string' ? await post(credentials, request, seams, signal) : await credentials(request);
      return flat(answer);
    } catch (error) {
      signal.throwIfAborted();
      const final = error instanceof ChatError;
      if (final || attempt >= TRIES) {
        throw final
          ? error
          : refused(`The page's server gave no credentials: ${error instanceof Error ? error.message : 'it failed'}`);
      }
      await seams.sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + seams.random()), signal);
    }
  }
}

/** Sends the cookies of the customer's site, which identify the visitor. */
async function post(
  endpoint: string,
  request: CredentialsRequest,
  seams: Seams,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await seams.fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
    credentials: isOwn(endpoint, seams) ? 'same-origin' : 'include',
    cache: 'no-store',
    signal,
  });
  if (response.ok) return response.json();
  const { message } = await readError(response);
  const text = message ?? `the page's server answered ${String(response.status)}`;
  if (response.status >= 500 || response.status === 429) throw new Error(text);
  throw refused(text);
}

function isOwn(endpoint: string, { location }: Seams): boolean {
  return !location || new URL(endpoint, location.origin).origin === location.origin;
}

function refused(message: string): ChatError {
  return new ChatError('credentials', message, { terminal: true });
}

function flat(answer: unknown): SessionCredentials {
  const given = (typeof answer === 'object' && answer !== null ? answer : {}) as Partial<Record<string, unknown>>;
  if (typeof given['pass'] === 'object' || typeof given['session'] === 'object') {
    throw refused(
      'The credentials are nested, as in the response of the service. Your endpoint must return a flat object: pass (pass.token), ' +
        'threadId (session.thread_id), sessionId (session.id), expiresIn (pass.expiresInSeconds), resumeToken (resumeToken.token).',
    );
  }
  const { pass, threadId, sessionId, expiresIn, resumeToken } = given;
  const isLife = typeof expiresIn === 'number' && expiresIn > 0 && expiresIn <= MAX_LIFE_S;
  if (typeof pass !== 'string' || typeof threadId !== 'string' || typeof sessionId !== 'string' || !isLife) {
    throw refused(
      'The credentials must have pass, threadId and sessionId as texts, and expiresIn as the number of seconds until the pass expires.',
    );
  }
  return { pass, threadId, sessionId, expiresIn, ...(typeof resumeToken === 'string' ? { resumeToken } : {}) };
}
