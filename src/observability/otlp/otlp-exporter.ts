import { diag, DiagLogLevel, TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from '@opentelemetry/semantic-conventions';
import { type Clock, untilAborted } from '../../platform/clock/index.js';
import type { OtlpBackend } from '../../platform/config/index.js';
import type { Logger } from '../../platform/telemetry/index.js';
import type { TraceSpan } from './trace-spans.js';

const SCOPE = { name: 'agent-service', version: '1.0.0' };
/** What the exporter says when a backend has taken a request and refused a part of it; the details follow as JSON. */
const PARTIAL_SUCCESS = 'Received Partial Success';
/** Values of enumerations in packages that are the exporter's own. Every OTLP server takes gzip. */
const GZIP: unknown = 'gzip';
const SUCCESS = 0;

type ExporterConfig = NonNullable<ConstructorParameters<typeof OTLPTraceExporter>[0]>;

/** Why a request did not arrive. The message names the status or the fault, and nothing that was sent or answered. */
export class ExportFailed extends Error {
  constructor(
    message: string,
    /** False: the same request would be refused again. */
    readonly retryable: boolean,
  ) {
    super(message);
  }
}

/** Sends spans through OpenTelemetry's exporter, which makes the request itself and repeats it within the time it has. */
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
   * Sends one request; spans that the backend took and refused are not sent again.
   * @param signal aborted when the process stops
   * @throws ExportFailed, also when there is no answer in time
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
      // Ends a connection that answers for ever, and the exporter's own pause before a repetition comes to nothing.
      late.abort();
    }
  }

  /** Complete: what is absent here the exporter takes from the environment. */
  private configuration(signal: AbortSignal): ExporterConfig {
    const { tracesUrl: url, headers, timeoutMs: timeoutMillis } = this.backend;
    return {
      ...{ url, headers: { ...headers }, timeoutMillis, concurrencyLimit: 1 },
      compression: GZIP as NonNullable<ExporterConfig['compression']>,
      // The exporter's own time limit begins anew with every byte. Node hands the signal to the socket, which it closes.
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
          else reject(failureOf(error));
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

/** The exporter's errors carry the answer's text; of them only the status or the fault's code is told. */
function failureOf(error: Error | undefined): ExportFailed {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code === 'number')
    return new ExportFailed(`The OpenTelemetry backend answered ${code}`, isWorthRepeating(code));
  if (typeof code === 'string')
    return new ExportFailed(`The OpenTelemetry backend could not be reached: ${code}`, true);
  return new ExportFailed('The OpenTelemetry backend asked for a later repetition, or did not answer', true);
}

/** As OTLP has it, and a fault of the server's besides: a proxy in front of it may have answered. */
function isWorthRepeating(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}

/** The exporter tells of partial success and of its own troubles through this alone. Its texts may hold the backend's. */
function logDiagnostics(logger: Logger): void {
  const tell = (message: string, ...details: readonly unknown[]): void => {
    if (message.startsWith(PARTIAL_SUCCESS)) logRejected(logger, String(details[0]));
    else logger.warn({}, 'The OpenTelemetry exporter met a problem; the request counts as its result says');
  };
  const silent = (): void => undefined;
  diag.setLogger(
    { error: tell, warn: tell, info: silent, debug: silent, verbose: silent },
    {
      logLevel: DiagLogLevel.WARN,
      suppressOverrideMessage: true,
    },
  );
}

function logRejected(logger: Logger, details: string): void {
  const { rejectedSpans = 0 } = JSON.parse(details) as { rejectedSpans?: number };
  logger.warn({ rejectedSpans }, 'The OpenTelemetry backend took a request and refused some of its spans, for good');
}
