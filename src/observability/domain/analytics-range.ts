import { ValidationFailed } from '../../platform/errors/index.js';
import { RETENTION_MS, USAGE_BUCKETS, USAGE_DAYS, USAGE_DEFAULT_DAYS } from '../limits.js';
import { type BucketWidth, WIDTH_MS } from './usage.js';

/** `to` is not included. */
export interface TimeRange {
  readonly from: Date;
  readonly to: Date;
}

const DAY_MS = WIDTH_MS.day;
/** Times between these have a year of four digits, even rounded to whole buckets. */
const FIRST = new Date('0001-01-01T00:00:00Z');
const LAST = new Date('9999-01-01T00:00:00Z');

/** @throws ValidationFailed if the range ends before it begins */
export function feedbackRange(from: string | undefined, to: string | undefined, now: Date): TimeRange {
  const oldest = new Date(now.getTime() - RETENTION_MS);
  const requested = ordered(from === undefined ? oldest : startOf(from), to === undefined ? now : endOf(to));
  // A range before the retention becomes empty.
  const end = later(earlier(requested.to, now), oldest);
  return { from: earlier(later(requested.from, oldest), end), to: end };
}

/**
 * The whole buckets that overlap the range.
 * @throws ValidationFailed if the range ends before it begins, or is too long
 */
export function usageRange(from: string | undefined, to: string | undefined, width: BucketWidth, now: Date): TimeRange {
  const end = to === undefined ? now : endOf(to);
  const requested = ordered(
    from === undefined ? new Date(end.getTime() - USAGE_DEFAULT_DAYS * DAY_MS) : startOf(from),
    end,
  );
  if (requested.to.getTime() - requested.from.getTime() > USAGE_DAYS * DAY_MS) {
    throw new ValidationFailed(`querystring/from must be at most ${String(USAGE_DAYS)} days before to`);
  }
  const step = WIDTH_MS[width];
  const range = {
    from: new Date(Math.floor(requested.from.getTime() / step) * step),
    to: new Date(Math.ceil(requested.to.getTime() / step) * step),
  };
  if ((range.to.getTime() - range.from.getTime()) / step > USAGE_BUCKETS) {
    throw new ValidationFailed(`querystring/from and to must hold at most ${String(USAGE_BUCKETS)} buckets`);
  }
  return range;
}

function ordered(from: Date, to: Date): TimeRange {
  if (from > to) throw new ValidationFailed('querystring/from must not be after to');
  if (from < FIRST || to > LAST) throw new ValidationFailed('querystring/from and to must be in the years 1 to 9998');
  return { from, to };
}

/**
 * Checks the timestamps of a query for traces. The default of an absent one is always valid.
 * @throws ValidationFailed if the range ends before it begins
 */
export function requireOrder(from: Date | undefined, to: Date | undefined): void {
  if (from && to && from > to) throw new ValidationFailed('querystring/fromTimestamp must not be after toTimestamp');
}

export function later(left: Date, right: Date): Date {
  return left > right ? left : right;
}

export function earlier(left: Date, right: Date): Date {
  return left < right ? left : right;
}

function startOf(dateOrTimestamp: string): Date {
  return new Date(dateOrTimestamp);
}

function endOf(dateOrTimestamp: string): Date {
  const start = new Date(dateOrTimestamp);
  // A date includes its whole day.
  return dateOrTimestamp.includes('T') ? start : new Date(start.getTime() + DAY_MS);
}
