/** Why a model call failed, as `run.error.code` and the stream's `RUN_ERROR` name it. */
export type ModelFailureCode =
  'provider_error' | 'provider_rate_limited' | 'provider_auth' | 'provider_overloaded' | 'context_too_long';

/** The provider refused the schemas of tools before it sent any part of a response. */
export interface SchemaRefusal {
  /** The names of the refused tools; empty if the provider named none. */
  readonly tools: readonly string[];
  /** The provider's message on one short line, without keys, for those who maintain the tools. */
  readonly reason: string;
}

/** The provider refused the response format of the request before it sent any part of a response. */
export interface FormatRefusal {
  /** The provider's message on one short line, without keys, for the caller who has sent the format. */
  readonly reason: string;
}

/** `message` is public, `detail` is for the log. Neither quotes sentences of the provider, which may contain keys or prompts. */
export class ModelFailure extends Error {
  constructor(
    readonly code: ModelFailureCode,
    message: string,
    readonly facts: {
      /** The call failed before the provider sent anything, so it may be repeated. */
      readonly retryable: boolean;
      /** The provider's `Retry-After`. */
      readonly retryAfterSeconds?: number;
      /** The provider refused the content of the request; it may accept a smaller or plainer one. */
      readonly unacceptable?: boolean;
      /** The provider may accept the request with plain object schemas in place of these. */
      readonly refusedSchemas?: SchemaRefusal;
      readonly refusedFormat?: FormatRefusal;
      /** The call used the agent's own key, not the operator's. */
      readonly ownKey: boolean;
      /** What happened, with the status and error codes of the provider. */
      readonly detail?: string;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: facts.cause });
    this.name = 'ModelFailure';
  }
}
