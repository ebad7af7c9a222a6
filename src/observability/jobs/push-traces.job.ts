import { z } from 'zod';
import { OrganizationDirectory } from '../../access/index.js';
import { Clock } from '../../platform/clock/index.js';
import { type OtlpBackend, Settings } from '../../platform/config/index.js';
import { inBatches } from '../../platform/database/index.js';
import { defineJob, type JobOf, Processor, UnrecoverableError, WorkerHost } from '../../platform/jobs/index.js';
import { UnreadableJson } from '../../platform/stored-json/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { PushedTrace } from '../domain/trace.js';
import { PUSH_BATCH, PUSH_LOAD_BYTES, PUSH_RETRY } from '../limits.js';
import { TraceRepository } from '../persistence/trace.repository.js';

/** Sends traces to the operator's OpenTelemetry backend, at least once: a repetition sends all spans again, with the same ids. */
export const pushTraces = defineJob({
  name: 'traces.push',
  payload: z.object({ traceIds: z.array(z.uuid()).min(1).max(PUSH_BATCH) }),
  retry: PUSH_RETRY,
});

@Processor(pushTraces.name)
export class PushTraces extends WorkerHost {
  private exporting: ReturnType<typeof loadExporting> | undefined;

  constructor(
    private readonly traces: TraceRepository,
    private readonly organizations: OrganizationDirectory,
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    super();
  }

  async process({ data, signal }: JobOf<typeof pushTraces>): Promise<void> {
    const { otlp } = this.settings;
    // The operator may have removed the backend since the job was enqueued.
    if (!otlp) return;
    this.exporting ??= loadExporting(otlp, this.clock, this.logger);
    const { exporter, traceSpans, requestParts, ExportFailed } = await this.exporting;
    try {
      for (const part of inBatches(
        await this.traces.pushableSizes(data.traceIds),
        ({ bytes }) => bytes,
        PUSH_LOAD_BYTES,
      )) {
        const loaded = await this.load(part.map(({ id }) => id));
        const spans = loaded.flatMap((trace) => traceSpans(trace, otlp.captureContent));
        for (const request of requestParts(spans)) {
          signal.throwIfAborted();
          // Checked before each request, because an organization may switch to HIPAA while a slow backend answers.
          const allowed = await this.allowed(loaded);
          const sendable = request.filter(({ runId }) => allowed.has(runId));
          if (sendable.length > 0) await exporter.send(sendable, signal);
        }
      }
    } catch (error) {
      if (error instanceof ExportFailed && !error.retryable) throw new UnrecoverableError(error.message);
      throw error;
    }
  }

  /** The readable ones of the traces. If a read fails, it reads each half, down to the unreadable traces. */
  private async load(ids: readonly string[]): Promise<readonly PushedTrace[]> {
    try {
      return await this.traces.pushable(ids);
    } catch (error) {
      if (!(error instanceof UnreadableJson)) throw error;
      if (ids.length === 1) {
        this.logger.error({ err: error, traceId: ids[0] }, 'A trace is unreadable and is not pushed');
        return [];
      }
      const half = Math.ceil(ids.length / 2);
      return [...(await this.load(ids.slice(0, half))), ...(await this.load(ids.slice(half)))];
    }
  }

  /** The ids of the traces that may leave the service: none of an organization that handles HIPAA data now. */
  private async allowed(
    traces: readonly { readonly id: string; readonly organizationId: string }[],
  ): Promise<ReadonlySet<string>> {
    const allowed = new Set<string>();
    for (const { id, organizationId } of traces) {
      const organization = await this.organizations.find(organizationId);
      if (organization && !organization.features.has('hipaa')) allowed.add(id);
    }
    return allowed;
  }
}

/** Loads the libraries for the first push, so that they do not slow the start of the process. */
async function loadExporting(otlp: OtlpBackend, clock: Clock, logger: Logger) {
  const [{ OtlpExporter, ExportFailed, requestParts }, { traceSpans }] = await Promise.all([
    import('../otlp/otlp-exporter.js'),
    import('../otlp/trace-spans.js'),
  ]);
  return { exporter: new OtlpExporter(otlp, clock, logger), ExportFailed, traceSpans, requestParts };
}
