/** What the caller said about its user: scopes tool calls and retrievals, echoed into the trace. */
export type UserContext = Readonly<Record<string, string | number | boolean>>;
