export { LimitsModule } from './limits.module.js';
export { setRateLimitHeaders } from './rate-limit-headers.js';
export { type RateLimit, RateLimiter, type RateLimitState } from './rate-limiter.js';
