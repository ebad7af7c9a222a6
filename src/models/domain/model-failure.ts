/** Why a model call failed, as `run.error.code` and the stream's `RUN_ERROR` name it. */
export type ModelFailureCode =
  | 'provider_error'
  | 'provider_rate_limited'
  | 'provider_auth'
  | 'provider_overloaded'
  | 'context_too_long';

/**
 * A model call that did not end. `message` is public, `detail` is for the log; neither quotes the provider's own sentences,
 * which may hold keys or prompts.
 */
export class ModelFailure extends Error {
  constructor(
    readonly code: ModelFailureCode,
    message: string,
    readonly facts: {
      /** The provider refused or broke before it sent anything, so the call may be tried again. */
      readonly retryable: boolean;
      /** What the provider asked for in `Retry-After`. */
      readonly retryAfterSeconds?: number;
      /** The provider would not take the request as it was; a smaller or plainer one may pass. */
      readonly unacceptable?: boolean;
      /** The key that failed was the agent's own, not the operator's. */
      readonly ownKey: boolean;
      /** What happened, with the status and the codes that the provider answered. */
      readonly detail?: string;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: facts.cause });
    this.name = 'ModelFailure';
  }
}
