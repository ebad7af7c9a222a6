import { describe, expect, it } from '@jest/globals';
import { readTraceParent } from './trace-parent.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('a traceparent', () => {
  it.each([
    ['of version 00', `00-${TRACE}-${SPAN}-01`],
    ['that is not sampled', `00-${TRACE}-${SPAN}-00`],
    ['of a later version', `01-${TRACE}-${SPAN}-01`],
    ['of a later version with more fields', `cc-${TRACE}-${SPAN}-01-what-the-future-brings`],
  ])('%s names the span', (_what, header) => {
    expect(readTraceParent(header)).toEqual({ traceId: TRACE, spanId: SPAN });
  });

  it.each([
    ['that is absent', undefined],
    ['sent twice', [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`]],
    ['that is empty', ''],
    ['of the forbidden version', `ff-${TRACE}-${SPAN}-01`],
    ['without a trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['without a span', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['in capitals', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['of version 00 with more fields', `00-${TRACE}-${SPAN}-01-more`],
    ['that is too short', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['without flags', `00-${TRACE}-${SPAN}`],
    ['with other text around it', ` 00-${TRACE}-${SPAN}-01 `],
  ])('%s is ignored', (_what, header) => {
    expect(readTraceParent(header)).toBeNull();
  });
});
