import { DomainError, type ErrorKind } from '../../../platform/errors/index.js';

/**
 * `refused`: the drive does not accept the account or the sign-in. `forbidden`: it refuses only this file. `busy`: it limits the
 * rate. `unreachable`: no response, or a 5xx. `answer`: the response does not match the API. `endless`: its pages do not end.
 */
export type DriveFailureReason =
  | 'refused'
  | 'forbidden'
  | 'not_found'
  | 'busy'
  | 'unreachable'
  | 'too_large'
  | 'export_too_large'
  | 'bad_request'
  | 'answer'
  | 'endless';

const KINDS: Readonly<Record<DriveFailureReason, ErrorKind>> = {
  refused: 'invalid',
  forbidden: 'invalid',
  not_found: 'invalid',
  busy: 'unavailable',
  unreachable: 'unavailable',
  too_large: 'bad_gateway',
  export_too_large: 'bad_gateway',
  bad_request: 'bad_gateway',
  answer: 'bad_gateway',
  endless: 'bad_gateway',
};

/** A request to the drive failed. `message` is public: responses and the last error of a sync show it. */
export class DriveFailure extends DomainError {
  /** The pause that the drive asks for. */
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly reason: DriveFailureReason,
    message: string,
    { retryAfterMs, detail }: { readonly retryAfterMs?: number | undefined; readonly detail?: string | undefined } = {},
  ) {
    const retryAfterSeconds = Math.min(3_600, Math.max(1, Math.ceil((retryAfterMs ?? 1_000) / 1_000)));
    super(KINDS[reason], message, {
      ...(KINDS[reason] === 'unavailable' && { retryAfterSeconds }),
      ...(detail !== undefined && { detail }),
    });
    this.retryAfterMs = retryAfterMs;
  }

  /** A later request may succeed. */
  get isTransient(): boolean {
    return this.reason === 'busy' || this.reason === 'unreachable' || this.reason === 'answer';
  }
}

export function isFailure(error: unknown, reasons: readonly DriveFailureReason[]): error is DriveFailure {
  return error instanceof DriveFailure && reasons.includes(error.reason);
}

/** @returns null if the request fails for one of the reasons */
export async function nullOn<Result>(
  reasons: readonly DriveFailureReason[],
  request: Promise<Result>,
): Promise<Result | null> {
  try {
    return await request;
  } catch (error) {
    if (isFailure(error, reasons)) return null;
    throw error;
  }
}
