import type { RunnableAgent } from '../../agents/index.js';
import type { ModelToolCall } from '../../models/index.js';
import type { ToolResult } from './tool-source.js';
import type { RunContext } from './run-context.js';

interface Verdict {
  /** The hook has added its own step; otherwise the engine adds one for a verdict that changes something. */
  readonly recorded?: boolean;
}

export type PromptVerdict = Verdict &
  (
    | {
        readonly decision: 'continue';
        readonly additionalContext: readonly string[];
        /** The hook checks prompts, so models do not get messages of a sent history that the hook has not checked. */
        readonly guards?: boolean;
      }
    /** The engine does not call the model, and shows `reason` as the reply. */
    | { readonly decision: 'block'; readonly reason: string | null }
  );

export interface UserPrompt {
  readonly id: string;
  readonly text: string;
}

/** A request for suggestions, which has neither a thread nor a run. */
export interface SuggestionRequest {
  readonly agent: RunnableAgent;
  /** The text of the user's newest message. */
  readonly prompt: string;
  readonly signal: AbortSignal;
}

export type ToolCallVerdict = Verdict & {
  /** Appended to the call's result or error, for the model. */
  readonly additionalContext?: readonly string[];
} & (
    | { readonly decision: 'allow'; readonly input?: ModelToolCall['input'] }
    /** The engine does not call the tool; the model reads `reason` as its error. */
    | { readonly decision: 'deny'; readonly reason: string }
  );

export type StopVerdict = Verdict &
  (
    | { readonly decision: 'stop' }
    /** The engine calls the model once more, with `reason` as guidance. */
    | { readonly decision: 'continue'; readonly reason: string }
  );

/**
 * Checks and changes the steps of a run. Every method has a neutral default, so an implementation overrides only what
 * it needs. The engine calls several hooks in parallel; one block blocks, one denial denies. A hook should handle its
 * own failures. The engine logs a hook that throws: before a prompt or a tool call that blocks or denies, since a
 * failed check has allowed nothing; later it has no effect.
 */
export abstract class RunHooks {
  /**
   * Called for one message after the other, until one is blocked: the user's messages of the sent history, then the
   * run's own (`RunContext.userMessage`). Called again after it rejected with `DatabaseUnavailable`, once the database
   * is back, so what it reads comes before what it does.
   */
  beforePrompt(_run: RunContext, _prompt: UserPrompt): Promise<PromptVerdict> {
    return Promise.resolve({ decision: 'continue', additionalContext: [] });
  }

  /** @returns `block` for a prompt that models must not read; the request then gets no suggestions */
  beforeSuggestions(_request: SuggestionRequest): Promise<PromptVerdict['decision']> {
    return Promise.resolve('continue');
  }

  /** Not called for tools that the provider runs itself. */
  beforeToolCall(_run: RunContext, _call: ModelToolCall): Promise<ToolCallVerdict> {
    return Promise.resolve({ decision: 'allow' });
  }

  /** Called after a successful call. @returns texts that are appended to the result for the model */
  afterToolCall(_run: RunContext, _call: ModelToolCall, _result: ToolResult): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  /**
   * @param _lastAssistantMessage the model's last answer
   * @param _continued whether a hook has continued this reply before; the engine then ignores a further `continue`
   */
  beforeStop(_run: RunContext, _lastAssistantMessage: string, _continued: boolean): Promise<StopVerdict> {
    return Promise.resolve({ decision: 'stop' });
  }
}
