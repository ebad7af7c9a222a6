export { keepCompiledCode } from './compile-cache.js';
