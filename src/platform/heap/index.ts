export { AttachedValue } from './attached-value.js';
export { keepYoungGenerationSmall } from './young-generation.js';
