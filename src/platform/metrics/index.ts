export type { Labels, LabelValues } from './label-set.js';
export {
  type Counter,
  type CounterDeclaration,
  type GaugeDeclaration,
  type Histogram,
  type HistogramDeclaration,
  Metrics,
  type Reading,
} from './metrics.js';
export { MetricsModule } from './metrics.module.js';
