/** What the caller says about its user. It scopes tool calls and retrievals, and the trace repeats it. */
export type UserContext = Readonly<Record<string, string | number | boolean>>;
