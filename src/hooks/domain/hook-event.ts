export const HOOK_EVENTS = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

interface EventRules {
  /** Of a handler that says none, in seconds. */
  readonly timeoutSeconds: number;
  /** A failed handler can block what the event is about. */
  readonly canFailClosed: boolean;
  /** What a group's matcher is compared with; null where the event ignores it. */
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

export function isHookEvent(name: string): name is HookEvent {
  return (HOOK_EVENTS as readonly string[]).includes(name);
}
