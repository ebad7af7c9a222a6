/** Why a model call failed, as `run.error.code` and the stream's `RUN_ERROR` name it. */
export type ModelFailureCode =
  | 'provider_error'
  | 'provider_rate_limited'
  | 'provider_auth'
  | 'provider_overloaded'
  | 'context_too_long';

/** The provider would not take the schemas of tools, and said so before it sent anything. */
export interface SchemaRefusal {
  /** By the names in the request; empty where it did not say which. */
  readonly tools: readonly string[];
  /** Its own words, in one short line without keys: for those who look after the tools. */
  readonly reason: string;
}

/**
 * A model call that did not end. `message` is public, `detail` is for the log; neither quotes the provider's own sentences,
 * which may hold keys or prompts. Only `refusedSchemas` does, where they are about a schema.
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
      /** A request with plain objects in the place of these schemas may pass. */
      readonly refusedSchemas?: SchemaRefusal;
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
