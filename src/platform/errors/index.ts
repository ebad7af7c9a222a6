export * from './domain-error.js';
export { codeOf, messageOf } from './failure.js';
