import type { RunExtensions } from '../conversations/index.js';
import type { Context } from '../platform/context/index.js';
import { LogRuns } from './application/log-runs.js';
import { RecordTrace } from './application/record-trace.js';
import { RunMetrics } from './application/run-metrics.js';
import { ObservabilityModule } from './observability.module.js';
import { tracesSchema } from './persistence/traces.schema.js';

export const observabilityContext = {
  name: 'observability',
  modules: [ObservabilityModule],
  schema: tracesSchema,
  runs: { observers: [RecordTrace, RunMetrics, LogRuns] },
} satisfies Context<RunExtensions>;

export { tracesSchema };
