/** Most tokens of one response, thinking included; a longer one ends with `max_tokens`. */
export const MAX_OUTPUT_TOKENS = 32_000;

/** Thinking tokens of models with a budget in place of effort levels. Must be less than `MAX_OUTPUT_TOKENS`. */
export const THINKING_BUDGET_TOKENS = 10_000;

/** How often a call continues a response that the provider pauses during its web searches, before the call fails. */
export const MAX_CONTINUATIONS = 8;
