import { z } from 'zod';
import type { Stored } from '../../platform/stored-json/index.js';
import { MAX_RETRY_AFTER_MS, PAUSES_MS } from '../limits.js';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export const deliveryAttempt = z.object({
  /** When it began, ISO 8601. */
  at: z.string(),
  /** Of the response; null without one. */
  status: z.number().nullable(),
  /** Public; null for a delivery. */
  error: z.string().nullable(),
  latencyMs: z.number(),
});
export type DeliveryAttempt = Stored<typeof deliveryAttempt>;
export const deliveryAttempts = z.array(deliveryAttempt);

/** An attempt, and what the endpoint asked for with its response. */
export interface AttemptResult {
  readonly attempt: DeliveryAttempt;
  readonly retryAfterMs: number | null;
}

export interface AfterAttempt {
  readonly status: DeliveryStatus;
  /** Null unless pending. */
  readonly nextAttemptAt: Date | null;
}

const GONE = 410;

export function isDelivered({ error }: DeliveryAttempt): boolean {
  return error === null;
}

/** Whether the endpoint says that it no longer exists, which switches it off. */
export function isGone({ status }: DeliveryAttempt): boolean {
  return status === GONE;
}

/**
 * @param tries all attempts since the event, or since it was last sent again by hand, with this one
 * @param now when the attempt ended
 */
export function afterAttempt({ attempt, retryAfterMs }: AttemptResult, tries: number, now: Date): AfterAttempt {
  if (isDelivered(attempt)) return { status: 'delivered', nextAttemptAt: null };
  const pauseMs = PAUSES_MS[tries - 1];
  if (pauseMs === undefined || isGone(attempt)) return { status: 'failed', nextAttemptAt: null };
  const askedMs = retryAfterMs !== null && retryAfterMs <= MAX_RETRY_AFTER_MS ? retryAfterMs : 0;
  // The longer of both: an endpoint that asks for a short pause would use up its attempts within an outage.
  return { status: 'pending', nextAttemptAt: new Date(now.getTime() + Math.max(pauseMs, askedMs)) };
}
