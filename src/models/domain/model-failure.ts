/** Why a model call failed, as `run.error.code` and the stream's `RUN_ERROR` name it. */
export type ModelFailureCode =
  'provider_error' | 'provider_rate_limited' | 'provider_auth' | 'provider_overloaded' | 'context_too_long';

/** The provider refused the schemas of tools, before it sent any part of an answer. */
export interface SchemaRefusal {
  /** The names of the tools in the request; empty when the provider named none. */
  readonly tools: readonly string[];
  /** The provider's message in one short line, without keys, for the people who maintain the tools. */
  readonly reason: string;
}

/**
 * A model call that did not end. `message` is public, `detail` is for the log; neither quotes the provider's own sentences,
 * which may hold keys or prompts. Only `refusedSchemas` quotes a sentence, about a schema.
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
      /** The provider may accept a request with plain objects in place of these schemas. */
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
