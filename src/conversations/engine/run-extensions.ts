/** Injection tokens of the lists of extensions (`RunExtensionsModule`). */
export const RUN_ADMISSIONS = Symbol('RUN_ADMISSIONS');
export const PROMPT_SOURCES = Symbol('PROMPT_SOURCES');
export const TOOL_SOURCES = Symbol('TOOL_SOURCES');
export const RUN_HOOKS = Symbol('RUN_HOOKS');
export const RUN_OBSERVERS = Symbol('RUN_OBSERVERS');
