import { inBatches } from '../../platform/database/index.js';
import { PUSH_REQUEST_BYTES } from '../limits.js';
import type { TraceSpan } from './trace-spans.js';

/** Ids, times and status of a span, and the frames around them. */
const SPAN_BYTES = 200;
const ATTRIBUTE_BYTES = 12;

/** The spans in parts that each fit into one request. */
export function requestParts(spans: readonly TraceSpan[], limit = PUSH_REQUEST_BYTES): (readonly TraceSpan[])[] {
  return [...inBatches(spans, bytesOf, limit)];
}

/** No less than it takes in a request before compression. */
export function bytesOf({ name, status, attributes }: TraceSpan): number {
  const texts = [
    name,
    status.message ?? '',
    ...Object.entries(attributes).flatMap(([key, value]) => [key, String(value)]),
  ];
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return bytes + SPAN_BYTES + ATTRIBUTE_BYTES * Object.keys(attributes).length;
}
