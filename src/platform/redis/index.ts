export { keepSubscribed, subscribe, within } from './answers.js';
export { duplicateRedis, inOneSlot, isRedisClient, openRedis, type RedisClient, redisName } from './open-redis.js';
export { reconnect, RedisBreaker } from './redis-breaker.js';
export {
  connectInTime,
  connectRedis,
  connectSubscriber,
  REDIS,
  REDIS_SUBSCRIBER,
  RedisModule,
} from './redis.module.js';
