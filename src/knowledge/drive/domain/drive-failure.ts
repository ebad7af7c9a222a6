import { DomainError, type ErrorKind } from '../../../platform/errors/index.js';

/**
 * `refused`: the drive does not accept the account or the sign-in. `forbidden`: it refuses only this file. `busy`: it limits the
 * rate. `unreachable`: no answer, or a 5xx. `answer`: the answer does not match the API. `endless`: the answer does not end.
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

/** The drive did not do what it was asked. `message` is public: answers and the last error of a sync show it. */
export class DriveFailure extends DomainError {
  constructor(
    readonly reason: DriveFailureReason,
    message: string,
    /** When the drive may be asked again, where it said so. */
    readonly retryAfterMs?: number,
    detail?: string,
  ) {
    super(KINDS[reason], message, {
      ...(KINDS[reason] === 'unavailable' && {
        retryAfterSeconds: Math.min(3_600, Math.max(1, Math.ceil((retryAfterMs ?? 1_000) / 1_000))),
      }),
      ...(detail !== undefined && { detail }),
    });
  }

  /** Worth asking again after a while. */
  get isPassing(): boolean {
    return this.reason === 'busy' || this.reason === 'unreachable' || this.reason === 'answer';
  }
}
