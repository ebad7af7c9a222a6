/** What one run has used. */
export interface CreditEntry {
  /** The id of the run, so that a run that is stored twice has one. */
  readonly id: string;
  /** When the run ended. */
  readonly createdAt: Date;
  readonly agentId: string;
  readonly threadId: string;
  readonly provider: string;
  readonly model: string;
  /** Null where the provider did not tell. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** To four decimals; 0 on a key of the agent's own. */
  readonly credits: number;
}
