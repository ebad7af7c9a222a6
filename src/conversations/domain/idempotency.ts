/** A repeat of a request is recognized for this long. */
export const IDEMPOTENCY_HOURS = 24;

/** A request with an `Idempotency-Key`. */
export interface IdempotentRequest {
  /** Keys of different operations are independent. */
  readonly operation: string;
  readonly key: string;
  /** A digest of the request: a repeat has the same. */
  readonly fingerprint: string;
}
