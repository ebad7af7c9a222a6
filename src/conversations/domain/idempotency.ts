/** A repeat of a request is recognized for this long. */
export const IDEMPOTENCY_HOURS = 24;

/** A request that names itself, so that its repeat can be told from a new one. */
export interface IdempotentRequest {
  /** What is being done; the same key may name two different things. */
  readonly operation: string;
  /** The caller's `Idempotency-Key`. */
  readonly key: string;
  /** Digest of what was asked: a repeat asks the same. */
  readonly fingerprint: string;
}
