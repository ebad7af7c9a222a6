/** Facts about the user, as the caller sends them. They scope tool calls and retrievals, and the trace has them. */
export type UserContext = Readonly<Record<string, string | number | boolean>>;
