export { ObservabilityModule } from './observability.module.js';
export { tracesSchema } from './persistence/traces.schema.js';
export { RecordTrace } from './application/record-trace.js';
