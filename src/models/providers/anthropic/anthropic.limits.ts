/** Most tokens of one answer, thinking included; past it, `max_tokens`. */
export const MAX_OUTPUT_TOKENS = 32_000;

/** Thinking tokens of models that take a budget; they have no effort levels. Must stay under `MAX_OUTPUT_TOKENS`. */
export const THINKING_BUDGET_TOKENS = 10_000;

/** How often an answer that the provider paused during its own web searches is taken up again before the call fails. */
export const MAX_CONTINUATIONS = 8;
