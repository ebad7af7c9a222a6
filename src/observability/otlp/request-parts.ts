import { inBatches } from '../../platform/database/index.js';
import { PUSH_REQUEST_BYTES } from '../limits.js';
import type { TraceSpan } from './trace-spans.js';

/** Encoded size of a span's ids, times and status. */
const SPAN_BYTES = 200;
const ATTRIBUTE_BYTES = 12;

/** Splits the spans into parts that each fit into one request. */
export function requestParts(spans: readonly TraceSpan[], limit = PUSH_REQUEST_BYTES): (readonly TraceSpan[])[] {
  return [...inBatches(spans, bytesOf, limit)];
}

/** At least the size of the span in a request, before compression. */
export function bytesOf({ name, status, attributes }: TraceSpan): number {
  const texts = [
    name,
    status.message ?? '',
    ...Object.entries(attributes).flatMap(([key, value]) => [key, String(value)]),
  ];
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return bytes + SPAN_BYTES + ATTRIBUTE_BYTES * Object.keys(attributes).length;
}
