export type StepType = 'model' | 'tool' | 'retrieval' | 'hook' | 'memory';

/** One thing the run did, as the trace shows it. */
export interface RunStep {
  readonly id: string;
  readonly type: StepType;
  readonly name: string;
  readonly startedAt: Date;
  readonly latencyMs: number;
  readonly input: unknown;
  readonly output: unknown;
  /** Public text; null when the step succeeded. */
  readonly error: string | null;
  /** Of a model call: the provider's id of its answer, and the model that the provider names; null for what it does not report. */
  readonly response?: { readonly id: string | null; readonly model: string | null };
  readonly usage?: { readonly inputTokens: number | null; readonly outputTokens: number | null };
}
