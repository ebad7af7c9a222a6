/** How the fake upstream writes one reply: in so many writes, so far apart. */
export interface ReplyScript {
  /** From 1 (the whole reply at once) to `DELTAS`; the first of several carries one text delta. */
  readonly writes: number;
  /** Milliseconds between two writes. */
  readonly everyMs: number;
  /**
   * A tool that the model calls once before it replies: the one of the request whose name ends like this, or, where the
   * request has none, exactly this one.
   */
  readonly tool?: string;
}

/** Text deltas of a reply. */
export const DELTAS = 20;

export const INSTANT: ReplyScript = { writes: 1, everyMs: 0 };

/**
 * The message of a run. The script travels in its text, so that it reaches the upstream the same way through
 * every server that is measured.
 */
export function userText({ writes, everyMs, tool }: ReplyScript): string {
  const call = tool === undefined ? '' : ` tool=${tool}`;
  return `Tell me about the harbour in a few words, please. [writes=${writes} every=${everyMs}${call}]`;
}

/** The script that a request body names; the last one counts, because a thread's history names earlier ones. */
export function scriptOf(body: string): ReplyScript {
  const at = body.lastIndexOf('[writes=');
  const found = /^\[writes=(\d+) every=(\d+)(?: tool=([\w-]+))?\]/.exec(body.slice(at, at + 120));
  if (at < 0 || !found) throw new Error('The request names no script');
  const [, writes, everyMs, tool] = found;
  return { writes: Number(writes), everyMs: Number(everyMs), ...callIn(body, at, tool) };
}

/** Nothing once the call has its result, which comes after the message that asks for it. */
function callIn(body: string, at: number, tool: string | undefined): Pick<ReplyScript, 'tool'> {
  if (tool === undefined || body.includes('"tool_result"', at)) return {};
  const listed = new RegExp(`"name":"([\\w-]*${tool})","description"`).exec(body)?.[1];
  return { tool: listed ?? tool };
}
