export * from './domain-error.js';
export { codeOf, isDiskFull, messageOf } from './failure.js';
export { StatementFailed, withoutLiterals, withoutValues } from './statement-failed.js';
