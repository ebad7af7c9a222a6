import { setTimeout } from 'node:timers/promises';
import { ReplyError } from 'ioredis';
import type { Clock } from '../clock/index.js';
import type { RedisClient } from './open-redis.js';

export const SUBSCRIBE_MS = 2_000;
const SUBSCRIBE_AGAIN_MS = 5_000;

/** In real time, because it depends on the network. @throws Error if there is no answer in this time */
export async function within<Answer>(ms: number, answer: Promise<Answer>): Promise<Answer> {
  const end = new AbortController();
  const late = setTimeout(ms, undefined, { signal: end.signal }).then(() => {
    throw new Error(`Redis did not answer within ${ms} ms`);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    end.abort();
  }
}

/**
 * Subscribes over the connection for all subscriptions, which is replaced if it does not answer.
 * @throws Error if it is not ready, or does not answer in time; the client itself limits no subscription in a cluster
 */
export async function subscribe(subscriber: RedisClient, channel: string): Promise<void> {
  // The client sends a subscription before the connection is ready too, and then the connection never gets ready.
  if (!isReady(subscriber)) throw new Error('There is no connection to Redis');
  try {
    await within(SUBSCRIBE_MS, subscriber.subscribe(channel));
  } catch (error) {
    // In a cluster too: it has one connection for all subscriptions, and nothing else is sent.
    if (isReady(subscriber) && !(error instanceof ReplyError)) subscriber.disconnect(true);
    throw error;
  }
}

function isReady({ status }: RedisClient): boolean {
  return status === 'ready';
}

/**
 * Subscribes to the channel now, whenever the connection is ready, and again every few seconds: where only news arrive, nothing
 * else would tell a host without news from one that has vanished.
 */
export function keepSubscribed(subscriber: RedisClient, channel: string, clock: Clock): void {
  const keep = (): void => void subscribe(subscriber, channel).catch(() => undefined);
  subscriber.on('ready', keep);
  subscriber.once('end', clock.every(SUBSCRIBE_AGAIN_MS, keep));
  keep();
}
