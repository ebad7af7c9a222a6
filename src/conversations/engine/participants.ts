/** Lists of those who take part in a turn; `app.module.ts` provides them, in the order they are asked. */
export const PROMPT_SOURCES = Symbol('PROMPT_SOURCES');
export const TOOL_SOURCES = Symbol('TOOL_SOURCES');
export const TURN_HOOKS = Symbol('TURN_HOOKS');
export const TURN_OBSERVERS = Symbol('TURN_OBSERVERS');
