import type { ReplyScript } from './script.ts';
import type { Target, TurnForm } from './targets.ts';

/** Turns on one target, so many at a time, until the time or the number of turns is up. */
export interface Slice {
  readonly target: string;
  readonly form: TurnForm;
  readonly script: ReplyScript;
  readonly concurrency: number;
  readonly seconds: number;
  readonly maxTurns: number;
}

export interface SliceResult {
  readonly seconds: number;
  /** Milliseconds, one a turn. */
  readonly latencies: readonly number[];
  readonly firstTokens: readonly number[];
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

export type LoadOrder =
  | { readonly kind: 'open'; readonly name: string; readonly target: Target }
  | ({ readonly kind: 'slice' } & Slice)
  | ({ readonly kind: 'hold' } & Hold);

export type LoadReply =
  | { readonly kind: 'opened' }
  | { readonly kind: 'slice'; readonly result: SliceResult }
  | { readonly kind: 'hold'; readonly result: HoldResult }
  | { readonly kind: 'failed'; readonly message: string };
