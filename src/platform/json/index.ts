export {
  checkJsonLimits,
  checkLargeJsonLimits,
  MAX_JSON_DEPTH,
  MAX_JSON_VALUES,
  QuotedJsonLimits,
  shown,
} from './json-limits.js';
