export { entryLimit } from './entry-limit.js';
export { TtlCache, type TtlCacheOptions } from './ttl-cache.js';
