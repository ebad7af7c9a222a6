export { checkJsonLimits, checkLargeJsonLimits, MAX_JSON_DEPTH, MAX_JSON_VALUES, shown } from './json-limits.js';
