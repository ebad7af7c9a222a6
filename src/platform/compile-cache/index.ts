export { compileForOneCommand, keepCompiledCode } from './compile-cache.js';
