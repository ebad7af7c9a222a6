/** How the fake upstream writes one reply: in so many writes, so far apart. */
export interface ReplyScript {
  /** From 1 (the whole reply at once) to `DELTAS`; the first of several carries one text delta. */
  readonly writes: number;
  /** Milliseconds between two writes. */
  readonly everyMs: number;
}

/** Text deltas of a reply. */
export const DELTAS = 20;

export const INSTANT: ReplyScript = { writes: 1, everyMs: 0 };

/**
 * The message of a run. The script travels in its text, so that it reaches the upstream the same way through
 * every server that is measured.
 */
export function userText({ writes, everyMs }: ReplyScript): string {
  return `Tell me about the harbour in a few words, please. [writes=${writes} every=${everyMs}]`;
}

/** The script that a request body names; the last one counts, because a thread's history names earlier ones. */
export function scriptOf(body: string): ReplyScript {
  const at = body.lastIndexOf('[writes=');
  const found = /^\[writes=(\d+) every=(\d+)\]/.exec(body.slice(at, at + 40));
  if (at < 0 || !found) throw new Error('The request names no script');
  return { writes: Number(found[1]), everyMs: Number(found[2]) };
}
