import type { RunnableAgent } from '../../agents/index.js';
import type { ModelToolCall } from '../../models/index.js';
import type { ToolResult } from './tool-source.js';
import type { RunContext } from './run-context.js';

/** What every verdict may say besides. */
interface Noted {
  /** The hook has put what it did into `RunContext.steps` itself; else a verdict that changes something becomes a step. */
  readonly recorded?: boolean;
}

export type PromptVerdict = Noted &
  (
    | {
        readonly decision: 'continue';
        readonly additionalContext: readonly string[];
        /** The hook judges prompts, so the model gets no message of a sent history that the hook was not asked about. */
        readonly guards?: boolean;
      }
    /** The model is not called; `reason` is shown as the reply. */
    | { readonly decision: 'block'; readonly reason: string | null }
  );

/** A user's message that no model has read yet. */
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

export type ToolCallVerdict = Noted & {
  /** Appended to what the model reads of the call, whatever comes of it. */
  readonly additionalContext?: readonly string[];
} & (
    | { readonly decision: 'allow'; readonly input?: ModelToolCall['input'] }
    /** The tool does not run; the model reads `reason` as its error. */
    | { readonly decision: 'deny'; readonly reason: string }
  );

export type StopVerdict = Noted &
  (
    | { readonly decision: 'stop' }
    /** The agent goes on once more, with `reason` as guidance. */
    | { readonly decision: 'continue'; readonly reason: string }
  );

/**
 * Is asked before and after the steps of a run. Every method has a neutral answer, so an
 * implementation overrides what it cares about. Several hooks are asked in parallel; one block
 * blocks, one denial denies. A hook decides itself whether its own failure blocks. One that throws all the same is
 * logged: before a prompt or a call it blocks, since a guard that broke has let nothing pass; afterwards it counts as
 * neutral.
 */
export abstract class RunHooks {
  /**
   * Called for one message after the other, until one is blocked: the user messages of the history that the request sent, and
   * then the run's own (`RunContext.userMessage`).
   */
  beforePrompt(_run: RunContext, _prompt: UserPrompt): Promise<PromptVerdict> {
    return Promise.resolve({ decision: 'continue', additionalContext: [] });
  }

  /** @returns `block` for a prompt that no model may read; the request then gets no suggestions */
  beforeSuggestions(_request: SuggestionRequest): Promise<PromptVerdict['decision']> {
    return Promise.resolve('continue');
  }

  /** Not called for tools that the provider runs itself. */
  beforeToolCall(_run: RunContext, _call: ModelToolCall): Promise<ToolCallVerdict> {
    return Promise.resolve({ decision: 'allow' });
  }

  /** After a call that succeeded. @returns text appended to the result the model reads */
  afterToolCall(_run: RunContext, _call: ModelToolCall, _result: ToolResult): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  /**
   * @param _lastAssistantMessage the model's last answer
   * @param _continued a hook has already made this reply go on, and a further wish is not heard
   */
  beforeStop(_run: RunContext, _lastAssistantMessage: string, _continued: boolean): Promise<StopVerdict> {
    return Promise.resolve({ decision: 'stop' });
  }
}
