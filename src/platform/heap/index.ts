export { keepYoungGenerationSmall } from './young-generation.js';
