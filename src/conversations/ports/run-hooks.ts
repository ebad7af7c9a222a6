import type { ModelToolCall } from '../../models/index.js';
import type { ToolResult } from './tool-source.js';
import type { RunContext } from './run-context.js';

export type PromptVerdict =
  | { readonly decision: 'continue'; readonly additionalContext: readonly string[] }
  /** The model is not called; `reason` is shown as the reply. */
  | { readonly decision: 'block'; readonly reason: string | null };

export type ToolCallVerdict =
  | { readonly decision: 'allow'; readonly input?: ModelToolCall['input'] }
  /** The tool does not run; the model reads `reason` as its error. */
  | { readonly decision: 'deny'; readonly reason: string };

export type StopVerdict =
  | { readonly decision: 'stop' }
  /** The agent goes on once more, with `reason` as guidance. */
  | { readonly decision: 'continue'; readonly reason: string };

/**
 * Is asked before and after the steps of a run. Every method has a neutral answer, so an
 * implementation overrides what it cares about. Several hooks are asked in parallel; one block
 * blocks, one denial denies. A hook decides itself whether its own failure blocks: one that throws
 * counts as neutral and is logged.
 */
export abstract class RunHooks {
  beforePrompt(_run: RunContext): Promise<PromptVerdict> {
    return Promise.resolve({ decision: 'continue', additionalContext: [] });
  }

  beforeToolCall(_run: RunContext, _call: ModelToolCall): Promise<ToolCallVerdict> {
    return Promise.resolve({ decision: 'allow' });
  }

  /** After a call that succeeded. @returns text appended to the result the model reads */
  afterToolCall(_run: RunContext, _call: ModelToolCall, _result: ToolResult): Promise<readonly string[]> {
    return Promise.resolve([]);
  }

  /** `continued`: a hook has already made this run go on, and a further wish is not heard. */
  beforeStop(_run: RunContext, _lastAssistantMessage: string, _continued: boolean): Promise<StopVerdict> {
    return Promise.resolve({ decision: 'stop' });
  }
}
