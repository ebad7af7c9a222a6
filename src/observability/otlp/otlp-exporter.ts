import { diag, DiagLogLevel, TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from '@opentelemetry/semantic-conventions';
import { type Clock, untilAborted } from '../../platform/clock/index.js';
import type { OtlpBackend } from '../../platform/config/index.js';
import { inBatches } from '../../platform/database/index.js';
import type { Logger } from '../../platform/telemetry/index.js';
import { PUSH_REQUEST_BYTES } from '../limits.js';
import type { TraceSpan } from './trace-spans.js';

const SCOPE = { name: 'agent-service', version: '1.0.0' };
/** The exporter's message if a backend accepts a request and refuses some of its spans; details follow as JSON. */
const PARTIAL_SUCCESS = 'Received Partial Success';
/** Values of enumerations in internal packages of the exporter. Every OTLP server accepts gzip. */
const GZIP: unknown = 'gzip';
const SUCCESS = 0;

/** Encoded size of a span's ids, times and status. */
const SPAN_BYTES = 200;
const ATTRIBUTE_BYTES = 12;

type ExporterConfig = NonNullable<ConstructorParameters<typeof OTLPTraceExporter>[0]>;

/** A failed request. The message names the status or error code, and quotes neither the request nor the response. */
export class ExportFailed extends Error {
  constructor(
    message: string,
    /** False if the backend would refuse the same request again. */
    readonly retryable: boolean,
  ) {
    super(message);
  }
}

/** Sends spans with OpenTelemetry's exporter, which repeats a failed request until its time limit. */
export class OtlpExporter {
  private readonly resource;

  constructor(
    private readonly backend: OtlpBackend,
    private readonly clock: Clock,
    logger: Logger,
  ) {
    this.resource = resourceFromAttributes({
      [ATTR_SERVICE_NAME]: backend.serviceName,
      [ATTR_SERVICE_VERSION]: SCOPE.version,
    });
    logDiagnostics(logger);
  }

  /**
   * Sends one request. Spans that the backend refuses within an accepted request are not sent again.
   * @param signal aborts when the process stops
   * @throws ExportFailed, also if the backend does not answer in time
   */
  async send(spans: readonly TraceSpan[], signal: AbortSignal): Promise<void> {
    const { timeoutMs } = this.backend;
    const late = new AbortController();
    const cancel = this.clock.after(timeoutMs, () => {
      late.abort(new ExportFailed(`The OpenTelemetry backend did not answer within ${timeoutMs} ms`, true));
    });
    const ended = AbortSignal.any([signal, late.signal]);
    const exporter = new OTLPTraceExporter(this.configuration(ended));
    try {
      await untilAborted(this.export(exporter, spans), ended);
    } finally {
      cancel();
      // Closes a connection whose response does not end, and fails a repetition that the exporter has planned.
      late.abort();
    }
  }

  /** Complete, because the exporter reads absent values from the environment. */
  private configuration(signal: AbortSignal): ExporterConfig {
    const { tracesUrl: url, headers, timeoutMs: timeoutMillis } = this.backend;
    return {
      ...{ url, headers: { ...headers }, timeoutMillis, concurrencyLimit: 1 },
      compression: GZIP as NonNullable<ExporterConfig['compression']>,
      // Every byte restarts the exporter's time limit, so the signal closes the socket.
      httpAgentOptions: { keepAlive: false, signal } as NonNullable<ExporterConfig['httpAgentOptions']>,
    };
  }

  private export(exporter: OTLPTraceExporter, spans: readonly TraceSpan[]): Promise<void> {
    return new Promise((resolve, reject) => {
      exporter.export(
        spans.map((span) => this.readable(span)),
        ({ code, error }) => {
          const outcome: number = code;
          if (outcome === SUCCESS) resolve();
          else reject(toExportFailed(error));
        },
      );
    });
  }

  private readable({ runId: _runId, traceId, spanId, parentSpanId, ...span }: TraceSpan): ReadableSpan {
    const contextOf = (id: string) => ({ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED });
    return {
      ...span,
      spanContext: () => contextOf(spanId),
      ...(parentSpanId === undefined ? {} : { parentSpanContext: contextOf(parentSpanId) }),
      duration: [span.endTime[0] - span.startTime[0], span.endTime[1] - span.startTime[1]],
      ended: true,
      resource: this.resource,
      instrumentationScope: SCOPE,
      ...{ links: [], events: [], droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
    };
  }
}

/** The exporter's errors contain the text of the response, so only the status or error code is passed on. */
function toExportFailed(error: Error | undefined): ExportFailed {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code === 'number')
    return new ExportFailed(`The OpenTelemetry backend answered ${code}`, isWorthRepeating(code));
  if (typeof code === 'string')
    return new ExportFailed(`The OpenTelemetry backend could not be reached: ${code}`, true);
  return new ExportFailed('The OpenTelemetry backend asked for a repetition, or did not answer', true);
}

/** The statuses of OTLP, and every 5xx, which a proxy in front of the backend may send. */
function isWorthRepeating(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}

/** The exporter reports partial success and internal errors only here. Its messages may quote the backend. */
function logDiagnostics(logger: Logger): void {
  const log = (message: string, ...details: readonly unknown[]): void => {
    if (message.startsWith(PARTIAL_SUCCESS)) logRejected(logger, String(details[0]));
    else
      logger.warn(
        {},
        'The OpenTelemetry exporter reported a problem; the result of the request decides whether it is repeated',
      );
  };
  const silent = (): void => undefined;
  diag.setLogger(
    { error: log, warn: log, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

function logRejected(logger: Logger, details: string): void {
  const { rejectedSpans = 0 } = JSON.parse(details) as { rejectedSpans?: number };
  logger.warn(
    { rejectedSpans },
    'The OpenTelemetry backend accepted a request and refused some of its spans; they are not sent again',
  );
}

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
