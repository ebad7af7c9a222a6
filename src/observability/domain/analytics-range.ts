import { ValidationFailed } from '../../platform/errors/index.js';
import { RETENTION_MS, USAGE_BUCKETS, USAGE_DAYS, USAGE_DEFAULT_DAYS } from '../limits.js';
import { type BucketWidth, WIDTH_MS } from './usage.js';

/** A range of time, `to` not included. */
export interface TimeRange {
  readonly from: Date;
  readonly to: Date;
}

const DAY_MS = WIDTH_MS.day;
/** Rounded to whole buckets, what lies between still has a year of four digits. */
const FIRST = new Date('0001-01-01T00:00:00Z');
const LAST = new Date('9999-01-01T00:00:00Z');

/** @throws ValidationFailed when it ends before it begins */
export function feedbackRange(from: string | undefined, to: string | undefined, now: Date): TimeRange {
  const oldest = new Date(now.getTime() - RETENTION_MS);
  const asked = ordered(from === undefined ? oldest : startOf(from), to === undefined ? now : endOf(to));
  // Of a range that lies outside altogether nothing is left.
  const end = later(earlier(asked.to, now), oldest);
  return { from: earlier(later(asked.from, oldest), end), to: end };
}

/**
 * The buckets that the range touches, whole.
 * @throws ValidationFailed when it ends before it begins, or is too long
 */
export function usageRange(from: string | undefined, to: string | undefined, width: BucketWidth, now: Date): TimeRange {
  const end = to === undefined ? now : endOf(to);
  const asked = ordered(
    from === undefined ? new Date(end.getTime() - USAGE_DEFAULT_DAYS * DAY_MS) : startOf(from),
    end,
  );
  if (asked.to.getTime() - asked.from.getTime() > USAGE_DAYS * DAY_MS) {
    throw new ValidationFailed(`querystring/from must be at most ${String(USAGE_DAYS)} days before to`);
  }
  const step = WIDTH_MS[width];
  const range = {
    from: new Date(Math.floor(asked.from.getTime() / step) * step),
    to: new Date(Math.ceil(asked.to.getTime() / step) * step),
  };
  if ((range.to.getTime() - range.from.getTime()) / step > USAGE_BUCKETS) {
    throw new ValidationFailed(`querystring/from and to must hold at most ${String(USAGE_BUCKETS)} buckets`);
  }
  return range;
}

function ordered(from: Date, to: Date): TimeRange {
  if (from > to) throw new ValidationFailed('querystring/from must not be after to');
  if (from < FIRST || to > LAST) throw new ValidationFailed('querystring/from and to must lie in the years 1 to 9998');
  return { from, to };
}

/**
 * Checks the timestamps of a query of traces. An absent one has a default that is always in order.
 * @throws ValidationFailed when the range ends before it begins
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
  // A date stands for its whole day.
  return dateOrTimestamp.includes('T') ? start : new Date(start.getTime() + DAY_MS);
}
