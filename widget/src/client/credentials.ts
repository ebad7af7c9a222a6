import { ChatError, readError } from './chat-error.js';
import { askEndpoint, inTime } from './customer-endpoint.js';
import type { CredentialsRequest, SessionCredentials, SessionOptions } from './options.js';
import { toldWait } from './retry-after.js';
import type { Seams } from './seams.js';

const TRIES = 4;
const FIRST_PAUSE_MS = 500;
const MAX_WAIT_S = 60;
/** Responses of 4xx that say nothing about the visitor. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);
/** Ten years. A larger value is not a lifetime, but probably the time when the pass expires. */
const MAX_LIFE_S = 315_360_000;

/** A failure that may have passed at the next try. */
class TryLater extends Error {
  /** In seconds; null if the server has not told. */
  readonly retryAfter: number | null;

  constructor(message: string, retryAfter: number | null) {
    super(message);
    this.retryAfter = retryAfter;
  }
}

/**
 * Asks the customer's server for credentials. A refusal (4xx) and unusable credentials are final; other failures are repeated a few times.
 * @param wait waits as the server has told, and shows it
 * @throws ChatError `credentials`, terminal; `unavailable`, which another try may resolve
 */
export async function askForCredentials(
  options: SessionOptions,
  request: CredentialsRequest,
  seams: Seams,
  wait: (seconds: number, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<SessionCredentials> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return flat(await inTime((inside) => ask(options, request, seams, inside), seams, signal));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ChatError) throw error;
      if (attempt >= TRIES) {
        const cause = error instanceof Error ? error.message : 'it failed';
        throw new ChatError('unavailable', `The page's server gave no credentials: ${cause}`);
      }
      const told = error instanceof TryLater ? error.retryAfter : null;
      if (told === null) await seams.sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + seams.random()), signal);
      else await wait(told, signal);
    }
  }
}

/** Reads the option late, because a page may replace its function at any time. */
async function ask(
  { credentials }: SessionOptions,
  request: CredentialsRequest,
  seams: Seams,
  signal: AbortSignal,
): Promise<unknown> {
  if (typeof credentials === 'function') return credentials(request);
  const response = await askEndpoint(credentials, { method: 'POST', body: request }, seams, signal);
  if (response.ok) return response.json();
  const { message } = await readError(response);
  const text = message ?? `the page's server answered ${String(response.status)}`;
  if (response.status >= 500 || PASSING.has(response.status)) throw new TryLater(text, toldWait(response, MAX_WAIT_S));
  throw refused(text);
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
  const { pass, threadId, sessionId, expiresIn, resumeToken, isNew } = given;
  const isLife = typeof expiresIn === 'number' && expiresIn > 0 && expiresIn <= MAX_LIFE_S;
  if (typeof pass !== 'string' || typeof threadId !== 'string' || typeof sessionId !== 'string' || !isLife) {
    throw refused(
      'The credentials must have pass, threadId and sessionId as texts, and expiresIn as the number of seconds until the pass expires.',
    );
  }
  return {
    ...{ pass, threadId, sessionId, expiresIn, isNew: isNew === true },
    ...(typeof resumeToken === 'string' ? { resumeToken } : {}),
  };
}
