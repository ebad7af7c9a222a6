/** Lists of those who take part in a run; `app.module.ts` provides them, in the order they are asked. */
export const PROMPT_SOURCES = Symbol('PROMPT_SOURCES');
export const TOOL_SOURCES = Symbol('TOOL_SOURCES');
export const RUN_HOOKS = Symbol('RUN_HOOKS');
export const RUN_OBSERVERS = Symbol('RUN_OBSERVERS');
