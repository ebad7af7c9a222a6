import type { ChatFailure } from './chat-state.js';
import type { WireError } from './wire.js';

/** A failure, with a message for the visitor. */
export class ChatError extends Error implements ChatFailure {
  readonly code: string;
  readonly terminal: boolean;
  /** Status of the response; 0 if there was none. */
  readonly status: number;

  constructor(code: string, message: string, { terminal = false, status = 0 } = {}) {
    super(message);
    this.name = 'ChatError';
    this.code = code;
    this.terminal = terminal;
    this.status = status;
  }
}

/** Codes of a 429 that waiting does not resolve. */
const LIFETIME_CAPS: ReadonlySet<string> = new Set(['session_turn_cap_exhausted', 'session_refresh_cap_exhausted']);

export function isLifetimeCap(code: string | undefined): boolean {
  return code !== undefined && LIFETIME_CAPS.has(code);
}

/**
 * The error of an error response. A rejected credential and a conversation that no longer exists are terminal, if the service says so:
 * a proxy before it may answer 404 for a while.
 */
export function refusalOf(status: number, { code, error, message }: WireError): ChatError {
  const isOfService = code !== undefined || error !== undefined;
  const isFinal = status === 401 || status === 403 || status === 404;
  const terminal = (isFinal && isOfService) || (status === 429 && isLifetimeCap(code));
  return new ChatError(
    code ?? error ?? `http_${String(status)}`,
    message ?? `The service answered ${String(status)}.`,
    { terminal, status },
  );
}

/** The problem that the state shows for a thrown value. */
export function failureOf(error: unknown): ChatFailure {
  if (error instanceof ChatError) return { code: error.code, message: error.message, terminal: error.terminal };
  return {
    code: 'internal',
    message: error instanceof Error ? error.message : 'Something went wrong.',
    terminal: false,
  };
}

export async function readError(response: Response): Promise<WireError> {
  try {
    const body: unknown = await response.json();
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {};
  }
}
