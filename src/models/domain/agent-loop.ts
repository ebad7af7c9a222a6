import type { ProviderType } from '../providers/index.js';

/** A failure of the loop, which fails the run. The message is for the log. */
export class AgentLoopFailure extends Error {}

/** One run of `AgentLoops`. Its promises reject with the reason of the run's signal when that aborts. */
export interface LoopedRun {
  /** Resolves when the loop asks for a model call, or is already waiting for one. @throws AgentLoopFailure */
  readyForModel(): Promise<void>;
  /**
   * Passes on how many tool calls the model has made, and resolves when the loop executes them. The caller reports them as done by
   * its next `readyForModel` or `end`. @throws AgentLoopFailure
   */
  readyForTools(calls: number): Promise<void>;
  /** Must be called when the run ends, for whatever reason. Never throws. */
  end(): void;
}

/**
 * The loop that replaces the engine's for agents of one provider. It decides when the model and when the tools of a run are called;
 * the engine makes the calls.
 */
export abstract class AgentLoops {
  /** A sentence on what the operator has to do before agents of the type can run; null when they can. */
  abstract missing(type: ProviderType): string | null;
  /** Starts a run, whose `end` must be called; undefined if the engine's loop runs agents of the type. @param signal aborts the run */
  abstract begin(type: ProviderType, organizationId: string, signal: AbortSignal): LoopedRun | undefined;
}
