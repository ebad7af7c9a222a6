export { JsonSchema, type JsonValues, UnusableSchema } from './json-schema.js';
