export { LimitStorage, type WindowRecord, type WindowRequest } from './limit-storage.js';
export { LimitsModule } from './limits.module.js';
export { MemoryWindows } from './memory-windows.js';
export { type CountedWindow, type FixedThrottler, RateLimitGuard, setRateLimitHeaders } from './rate-limit.guard.js';
export { RedisWindows } from './redis-windows.js';
