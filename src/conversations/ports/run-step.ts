import type { RunUsage } from '../domain/run.js';

export type StepType = 'model' | 'tool' | 'retrieval' | 'hook' | 'memory';

/** One step of a run's trace. */
export interface RunStep {
  readonly id: string;
  readonly type: StepType;
  readonly name: string;
  readonly startedAt: Date;
  readonly latencyMs: number;
  readonly input: unknown;
  /** Of a tool call: the model's arguments, where a person has changed them; absent otherwise. */
  readonly requestedInput?: unknown;
  readonly output: unknown;
  /** A public text; null when the step succeeded. */
  readonly error: string | null;
  /** Of a model call; null for what the provider does not report. */
  readonly response?: { readonly id: string | null; readonly model: string | null };
  readonly usage?: Pick<RunUsage, 'inputTokens' | 'outputTokens' | 'cachedInputTokens'>;
}
