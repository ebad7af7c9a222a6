import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { pushTraces } from '../../../src/observability/jobs/push-traces.job.js';
import { Outbox } from '../../../src/platform/jobs/index.js';
import { startService, type TestService, until } from '../../support/harness.js';
import { LoopbackPorts } from '../../support/loopback-ports.js';
import { OtlpReceiver } from '../../support/otlp-receiver.js';
import { says } from '../../support/scripted-models.js';
import { scriptedRuns } from '../../support/scripted-runs.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import { Talk } from '../../support/talk.js';

/** Secrets of the headers, as set and as sent, that must be in no log line and no job. */
export const SECRET = 'push-secret';
const HEADERS = { OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${SECRET},x-team=agents,x-scope=${SECRET}` };

/** A service that pushes its traces to a test backend. */
export class PushingService {
  readonly clock = new ShiftedClock();
  readonly logLines: string[] = [];
  service!: TestService;
  backend!: OtlpReceiver;

  /** Starts a further service with the same backend. */
  start(environment: Record<string, string> = {}): Promise<TestService> {
    const all = { OTEL_EXPORTER_OTLP_ENDPOINT: this.backend.url, ...HEADERS, ...environment };
    return startService({
      environment: { LOG_LEVEL: 'debug', ...all },
      extensions: scriptedRuns,
      egressAllow: new LoopbackPorts(),
      clock: this.clock,
      log: { write: (line: string) => void this.logLines.push(line) },
    });
  }

  async push(traceIds: readonly string[], service = this.service): Promise<void> {
    await service.database.transaction((transaction) =>
      service.app.get(Outbox).enqueue(transaction, pushTraces, { traceIds: [...traceIds] }),
    );
  }

  /** Waits until all pushes have succeeded. */
  pushed(): Promise<void> {
    const jobs = () => this.service.database.query(`select id from outbox where name = $1`, [pushTraces.name]);
    return until(async () => (await jobs()).length === 0, 'the traces are pushed');
  }

  /** A run with one model call, in a new conversation by default. */
  async traced(on?: Talk): Promise<{ talk: Talk; runId: string }> {
    const talk = on ?? (await Talk.start(this.service));
    this.service.models.next(says('Hello.'));
    const { body } = await talk.run('Hi');
    return { talk, runId: body.run.id };
  }
}

/** Starts one for the tests of a file. */
export function usePushingService(): PushingService {
  const pushing = new PushingService();
  beforeAll(async () => {
    pushing.backend = await OtlpReceiver.start();
    pushing.service = await pushing.start();
  });
  beforeEach(() => {
    pushing.service.models.reset();
    pushing.backend.reset();
  });
  afterAll(async () => {
    await pushing.service.close();
    await pushing.backend.close();
  });
  return pushing;
}
