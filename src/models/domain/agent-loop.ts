/** The loop failed, and so does the run. The message is for the log. */
export class AgentLoopFailure extends Error {}

/** One run, as an `AgentLoop` carries it. Each of its promises rejects with the reason of the run's signal once that is aborted. */
export interface LoopedRun {
  /** Resolves when the loop asks for a call of the model, at once where it still waits for one. @throws AgentLoopFailure */
  readyForModel(): Promise<void>;
  /**
   * Tells the loop how many tool calls the model's answer has, and resolves when the loop makes them. They count as done once
   * `readyForModel` or `end` is called. @throws AgentLoopFailure
   */
  readyForTools(calls: number): Promise<void>;
  /** The run is over, however it ended. Never throws. */
  end(): void;
}

/**
 * A loop that a provider brings in place of the service's own: it decides when the model of a run is called and when the tools of
 * an answer are, and the caller then carries the step out.
 */
export interface AgentLoop {
  /** The `provider.type` of the agents that run on it. */
  readonly type: string;
  /** What an operator has to do before runs are possible on this installation, as a sentence; null when they are possible. */
  readonly missing: string | null;
  /** @param signal aborted when the run has to end */
  begin(organizationId: string, signal: AbortSignal): LoopedRun;
}
