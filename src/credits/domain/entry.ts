/** The usage of one run, or of one request for suggestions. */
export interface CreditEntry {
  /** The id of the run, so that a run that is stored twice has one entry. For suggestions, a new id. */
  readonly id: string;
  /** When the run ended, or the suggestions were made. */
  readonly createdAt: Date;
  readonly agentId: string;
  /** Null for suggestions, which have no thread and no run. */
  readonly threadId: string | null;
  readonly provider: string;
  readonly model: string;
  /** Null if the provider did not report them. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** The part of `inputTokens` that the provider read from its cache. */
  readonly cachedInputTokens: number | null;
  /** To four decimals; 0 if the agent has its own API key. */
  readonly credits: number;
}
