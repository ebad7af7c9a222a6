export type { Labels, LabelValues } from './label-set.js';
export { type Counter, type CounterDeclaration, type Histogram, type HistogramDeclaration, Metrics } from './metrics.js';
export { MetricsModule } from './metrics.module.js';
