import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { type BackendAnswer, OtlpReceiver } from '../../../test/support/otlp-receiver.js';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { createLogger } from '../../platform/telemetry/index.js';
import { ExportFailed, OtlpExporter } from './otlp-exporter.js';
import type { TraceSpan } from './trace-spans.js';

/** On the manual clock. The exporter's limit uses real time, and every byte restarts it. */
const TIMEOUT_MS = 30_000;
const SPAN: TraceSpan = {
  runId: '019a0000-0000-7000-8000-000000000000',
  ...{ traceId: '1'.repeat(32), spanId: '2'.repeat(16), parentSpanId: undefined, name: 'run', kind: SpanKind.INTERNAL },
  ...{ startTime: [1, 0], endTime: [2, 0], status: { code: SpanStatusCode.UNSET }, attributes: {} },
};

let backend: OtlpReceiver;
let clock: ManualClock;
let exporter: OtlpExporter;
beforeAll(async () => {
  backend = await OtlpReceiver.start();
});
afterAll(() => backend.close());
beforeEach(() => {
  clock = new ManualClock();
  const to = {
    tracesUrl: `${backend.url}/v1/traces`,
    headers: {},
    timeoutMs: TIMEOUT_MS,
    serviceName: 'test',
    captureContent: false,
  };
  exporter = new OtlpExporter(to, clock, createLogger({ logLevel: 'silent' }));
});

/** Answers the next request only with `begin`. The promises resolve when it arrives, and when its connection closes. */
function endless(begin: BackendAnswer): { readonly arrived: Promise<void>; readonly closed: Promise<void> } {
  const arrived = Promise.withResolvers<undefined>();
  const closed = Promise.withResolvers<undefined>();
  backend.next((response, request) => {
    response.once('close', () => closed.resolve(undefined));
    arrived.resolve(undefined);
    return begin(response, request);
  });
  return { arrived: arrived.promise, closed: closed.promise };
}

const drip: BackendAnswer = (response) => {
  response.writeHead(200);
  const timer = setInterval(() => response.write('.'), 5);
  response.once('close', () => clearInterval(timer));
};

async function failure(sending: Promise<void>): Promise<unknown> {
  return sending.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('a request to a backend that', () => {
  it.each<[string, BackendAnswer]>([
    ['takes it and never answers', () => undefined],
    ['drips its answer for ever', drip],
  ])('%s fails in time with a closed connection, and may be repeated', async (_what, begin) => {
    const { arrived, closed } = endless(begin);
    const failed = failure(exporter.send([SPAN], new AbortController().signal));
    await arrived;
    await clock.advance(TIMEOUT_MS);
    expect(await failed).toEqual(
      new ExportFailed(`The OpenTelemetry backend did not answer within ${TIMEOUT_MS} ms`, true),
    );
    expect(await failed).toMatchObject({ retryable: true });
    await closed;
    expect(clock.pending()).toBe(0);
  });

  it('never answers does not delay a process that stops', async () => {
    const { arrived, closed } = endless(() => undefined);
    const stopping = new AbortController();
    const failed = failure(exporter.send([SPAN], stopping.signal));
    await arrived;
    const reason = new Error('The process stops');
    stopping.abort(reason);
    expect(await failed).toBe(reason);
    await closed;
  });
});
