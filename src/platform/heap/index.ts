export { AttachedValue } from './attached-value.js';
export { TransientMap } from './transient-map.js';
export { keepYoungGenerationSmall } from './young-generation.js';
