import type { SliceResult } from './load-orders.ts';

/** One message of the request to the upstream, whatever the form of its content. */
export interface HistoryMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/** Repeats the same request with a fixed concurrency, until a time or a number of requests. */
export interface SdkOrder {
  readonly kind: 'send';
  readonly messages: readonly HistoryMessage[];
  readonly concurrency: number;
  readonly seconds: number;
  readonly maxRuns: number;
}

export interface SdkReply {
  readonly kind: 'sent';
  readonly result: SliceResult;
}
