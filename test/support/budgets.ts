import type { ThrottlerStorage } from '@nestjs/throttler';

/** Uses up a budget of so many requests in a minute. */
export async function useUpBudget(storage: ThrottlerStorage, bucket: string, limit: number, throttler: 'chat' | 'traces' | 'traceExport' = 'chat'): Promise<void> {
  let spent = 0;
  // Not simply so many requests: one that Redis does not answer in time counts elsewhere.
  while (spent < limit) spent = (await storage.increment(bucket, 60_000, limit, 0, throttler)).totalHits;
}
