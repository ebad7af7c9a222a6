import type { Clock } from '../clock/index.js';
import { keepSubscribed, type RedisClient } from '../redis/index.js';
import { Signals } from './signals.js';

/** Over a channel of Redis. @param subscriber a connection without automatic resubscription, which may be down */
export function redisSignals(redis: RedisClient, subscriber: RedisClient, prefix: string, clock: Clock): Signals {
  const channel = `${prefix}:signals`;
  const signals = new Signals((text) => redis.publish(channel, text));
  subscriber.on('message', (of: string, text: string) => {
    if (of === channel) signals.receive(text);
  });
  keepSubscribed(subscriber, channel, clock);
  return signals;
}
