import type { JsonObject } from '../../models/index.js';

export const HOOK_EVENTS = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

interface EventRules {
  /** The timeout of a handler that sets none. */
  readonly timeoutSeconds: number;
  /** Whether a failed handler may block the operation. */
  readonly canFailClosed: boolean;
  /** The input field that a group's matcher is compared with; null when the event ignores matchers. */
  readonly matchedField: 'source' | 'tool_name' | null;
}

/** Service document, "Hooks document". */
export const EVENT_RULES: Readonly<Record<HookEvent, EventRules>> = {
  SessionStart: { timeoutSeconds: 5, canFailClosed: false, matchedField: 'source' },
  UserPromptSubmit: { timeoutSeconds: 3, canFailClosed: true, matchedField: null },
  PreToolUse: { timeoutSeconds: 3, canFailClosed: true, matchedField: 'tool_name' },
  PostToolUse: { timeoutSeconds: 3, canFailClosed: false, matchedField: 'tool_name' },
  Stop: { timeoutSeconds: 3, canFailClosed: false, matchedField: null },
};

export interface InputBase {
  /** Null for suggestions, which have neither a thread nor a run. */
  readonly threadId: string | null;
  readonly agentId: string;
  readonly runId: string | null;
  /** Null when the caller passed none. */
  readonly userContext: JsonObject | null;
}

/** The part of a handler's input that describes the event. Contract, section 8. */
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

/** Sample fields of each event, for the route that tests handlers. */
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
