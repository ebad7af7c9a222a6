export { LimitStorage, type WindowRecord } from './limit-storage.js';
export { LimitsModule } from './limits.module.js';
export { MemoryWindows } from './memory-windows.js';
export { RateLimitGuard } from './rate-limit.guard.js';
export { RedisWindows } from './redis-windows.js';
