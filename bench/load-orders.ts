import type { ReplyScript } from './script.ts';
import type { Target, RunForm } from './targets.ts';

/** Runs on one target, so many at a time, until the time or the number of runs is up. */
export interface Slice {
  readonly target: string;
  readonly form: RunForm;
  readonly script: ReplyScript;
  readonly concurrency: number;
  readonly seconds: number;
  readonly maxRuns: number;
}

export interface SliceResult {
  readonly seconds: number;
  /** Milliseconds, one a run. */
  readonly latencies: readonly number[];
  readonly firstTokens: readonly number[];
}

/** Waiting runs, one at a time, of several kinds that take turns run by run. */
export interface Alternation {
  readonly lanes: readonly { readonly target: string; readonly script: ReplyScript }[];
  readonly rounds: number;
}

/** Streams that are open all at the same time. */
export interface Hold {
  readonly target: string;
  readonly script: ReplyScript;
  readonly streams: number;
  /** How many are being opened at a time. */
  readonly openAtOnce: number;
}

export interface HoldResult {
  /** Why each stream that did not reach its last event was lost. */
  readonly lost: readonly string[];
  readonly peakOpen: number;
  /** Epoch milliseconds; 0 when it never came to that. */
  readonly allOpenAt: number;
  readonly firstEndAt: number;
}

/** Streamed runs, one at a time, whose events are kept by the load process, to be read again. */
export interface Recording {
  /** Where the runs are. */
  readonly target: string;
  /** Another replica, where each run is read as soon as it has ended. */
  readonly other: string;
  readonly script: ReplyScript;
  readonly runs: number;
}

export interface Recorded {
  /** Milliseconds that each run's own stream took to its end. */
  readonly original: readonly number[];
  /** Milliseconds that reading it on the other replica took, from the end of its own stream on. */
  readonly atOnce: readonly number[];
  /** Events of one run. */
  readonly events: number;
}

/** What of a recorded run is read: the run itself, its events from the first on, those of its second half. */
export type Part = 'run' | 'whole' | 'half';

/** Reads the runs that were recorded last, so many at a time, until the time is up. */
export interface Read {
  readonly target: string;
  readonly part: Part;
  readonly concurrency: number;
  readonly seconds: number;
}

/** Runs under way, each read by the one who started it and by a second reader who joins after the first event. */
export interface Follow {
  readonly target: string;
  readonly joinedOn: string;
  readonly script: ReplyScript;
  readonly runs: number;
  readonly concurrency: number;
}

export interface FollowResult {
  /** Milliseconds by which the second reader had an event later than the first, one an event. */
  readonly delays: readonly number[];
  /** Milliseconds from joining to the first event. */
  readonly joined: readonly number[];
  readonly events: number;
}

export type LoadOrder =
  | { readonly kind: 'open'; readonly name: string; readonly target: Target }
  | ({ readonly kind: 'slice' } & Slice)
  | ({ readonly kind: 'alternate' } & Alternation)
  | ({ readonly kind: 'hold' } & Hold)
  | ({ readonly kind: 'record' } & Recording)
  | ({ readonly kind: 'read' } & Read)
  | ({ readonly kind: 'follow' } & Follow);

export type LoadReply =
  | { readonly kind: 'opened' }
  | { readonly kind: 'slice'; readonly result: SliceResult }
  /** Milliseconds by lane and round. */
  | { readonly kind: 'alternate'; readonly result: readonly (readonly number[])[] }
  | { readonly kind: 'hold'; readonly result: HoldResult }
  | { readonly kind: 'record'; readonly result: Recorded }
  | { readonly kind: 'follow'; readonly result: FollowResult };
