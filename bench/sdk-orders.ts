import type { SliceResult } from './load-orders.ts';

/** One message as the upstream was sent it, whatever form its content had. */
export interface HistoryMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/** The same request again and again, so many at a time, until the time or their number is up. */
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
