import type { ReplyScript } from './script.ts';
import type { Target, RunForm } from './targets.ts';

/** Runs on one target with a fixed concurrency, until a time or a number of runs. */
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
  /** Milliseconds of each run. */
  readonly latencies: readonly number[];
  readonly firstTokens: readonly number[];
}

/** Unstreamed runs, one at a time, of several kinds that alternate. */
export interface Alternation {
  readonly lanes: readonly { readonly target: string; readonly script: ReplyScript }[];
  readonly rounds: number;
}

/** Streams that are all open at the same time. */
export interface Hold {
  readonly target: string;
  readonly script: ReplyScript;
  readonly streams: number;
  /** How many streams are opened concurrently. */
  readonly openAtOnce: number;
}

export interface HoldResult {
  /** The error of each stream without its last event. */
  readonly lost: readonly string[];
  readonly peakOpen: number;
  /** Epoch milliseconds; 0 if the streams were never all open. */
  readonly allOpenAt: number;
  readonly firstEndAt: number;
}

/** Streamed runs, one at a time, whose events the load process stores for later reads. */
export interface Recording {
  /** The target of the runs. */
  readonly target: string;
  /** Another replica, on which each run is read as soon as it has ended. */
  readonly other: string;
  readonly script: ReplyScript;
  readonly runs: number;
}

export interface Recorded {
  /** Milliseconds of each run's stream. */
  readonly original: readonly number[];
  /** Milliseconds of the read on the other replica, from the end of the run's stream. */
  readonly atOnce: readonly number[];
  /** Number of events of one run. */
  readonly events: number;
}

/** What is read of a recorded run: the run, all its events, or the second half of them. */
export type Part = 'run' | 'whole' | 'half';

/** Reads the last recorded runs with a fixed concurrency, until the time is up. */
export interface Read {
  readonly target: string;
  readonly part: Part;
  readonly concurrency: number;
  readonly seconds: number;
}

/** Active runs, each read by its starter and by a second reader that joins after the first event. */
export interface Follow {
  readonly target: string;
  readonly joinedOn: string;
  readonly script: ReplyScript;
  readonly runs: number;
  readonly concurrency: number;
}

export interface FollowResult {
  /** Delay of the second reader behind the first one, in milliseconds, for each event. */
  readonly delays: readonly number[];
  /** Milliseconds from the second request to its first event. */
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
