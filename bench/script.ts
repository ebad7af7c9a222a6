/** How the fake upstream writes one reply: number and interval of writes. */
export interface ReplyScript {
  /** From 1 (the whole reply at once) to `DELTAS`; the first of several carries one text delta. */
  readonly writes: number;
  /** Milliseconds between two writes. */
  readonly everyMs: number;
  /**
   * A tool that the model calls once before its reply: the tool of the request whose name ends with this, or else a tool with this name.
   */
  readonly tool?: string;
}

/** Text deltas of a reply. */
export const DELTAS = 20;

export const INSTANT: ReplyScript = { writes: 1, everyMs: 0 };

/**
 * The message of a run. It contains the script, which so reaches the upstream through every measured server.
 */
export function userText({ writes, everyMs, tool }: ReplyScript): string {
  const call = tool === undefined ? '' : ` tool=${tool}`;
  return `Tell me about the harbour in a few words, please. [writes=${writes} every=${everyMs}${call}]`;
}

/** The last script in a request body, because the history of the thread contains earlier ones. */
export function scriptOf(body: string): ReplyScript {
  const at = body.lastIndexOf('[writes=');
  const found = /^\[writes=(\d+) every=(\d+)(?: tool=([\w-]+))?\]/.exec(body.slice(at, at + 120));
  if (at < 0 || !found) throw new Error('The request has no script');
  const [, writes, everyMs, tool] = found;
  return { writes: Number(writes), everyMs: Number(everyMs), ...callIn(body, at, tool) };
}

/** Undefined if the call has its result, which follows the message that asks for it. */
function callIn(body: string, at: number, tool: string | undefined): Pick<ReplyScript, 'tool'> {
  if (tool === undefined || body.includes('"tool_result"', at)) return {};
  const listed = new RegExp(`"name":"([\\w-]*${tool})","description"`).exec(body)?.[1];
  return { tool: listed ?? tool };
}
