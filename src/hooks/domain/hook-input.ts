import type { JsonObject } from '../../models/index.js';
import type { HookEvent } from './hook-event.js';

/** What every input says of the run. */
export interface InputBase {
  /** Null for suggestions, which have neither a thread nor a run. */
  readonly threadId: string | null;
  readonly agentId: string;
  readonly runId: string | null;
  /** Null where the caller has passed none. */
  readonly userContext: JsonObject | null;
}

/** What an input says of its event. Contract, section 8. */
export type EventFields =
  | { readonly event: 'SessionStart'; readonly source: 'startup' }
  | { readonly event: 'UserPromptSubmit'; readonly prompt: string }
  | { readonly event: 'PreToolUse'; readonly tool_name: string; readonly tool_input: JsonObject }
  | {
      readonly event: 'PostToolUse';
      readonly tool_name: string;
      readonly tool_input: JsonObject;
      readonly tool_response: string;
    }
  | { readonly event: 'Stop'; readonly last_assistant_message: string; readonly stop_hook_active: boolean };

/** What handlers are given. */
export function hookInput(
  { threadId, agentId, runId, userContext }: InputBase,
  { event, ...fields }: EventFields,
): JsonObject {
  return {
    session_id: threadId,
    hook_event_name: event,
    agent_id: agentId,
    run_id: runId,
    user_context: userContext ?? {},
    ...fields,
  };
}

/** A sample of an event's own fields, for trying handlers out. */
export const SAMPLE_FIELDS: { readonly [Event in HookEvent]: Extract<EventFields, { event: Event }> } = {
  SessionStart: { event: 'SessionStart', source: 'startup' },
  UserPromptSubmit: { event: 'UserPromptSubmit', prompt: 'This is a test of the hooks.' },
  PreToolUse: { event: 'PreToolUse', tool_name: 'sample_tool', tool_input: {} },
  PostToolUse: {
    event: 'PostToolUse',
    tool_name: 'sample_tool',
    tool_input: {},
    tool_response: 'This is a test of the hooks.',
  },
  Stop: { event: 'Stop', last_assistant_message: 'This is a test of the hooks.', stop_hook_active: false },
};
