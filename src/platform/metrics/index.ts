export type { Counter, Histogram } from 'prom-client';
export { Metrics } from './metrics.js';
export { MetricsModule } from './metrics.module.js';
