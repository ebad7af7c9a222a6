import type { ChatMessage } from '../client/chat-state.js';
import type { Strings } from './strings.js';

/** Messages of one side stand together unless this much time is between them. */
const GROUP_MS = 5 * 60_000;

/** Where a message stands between its neighbours. */
export interface Position {
  /** A time of the day on which the message is shown, in milliseconds since the epoch. */
  readonly day: number;
  readonly startsDay: boolean;
  readonly startsGroup: boolean;
  readonly endsGroup: boolean;
}

type Placed = Pick<ChatMessage, 'role' | 'createdAt'>;

/**
 * The position of each message. A day begins at midnight of the visitor's time zone. The clocks of the visitor and the service may
 * differ, so no message is shown on an earlier day than the one before it.
 */
export function positionsOf(messages: readonly Placed[]): Position[] {
  let day = -Infinity;
  const starts = messages.map((message, index) => {
    const before = messages[index - 1];
    const dayBefore = day;
    day = Math.max(day, message.createdAt);
    const startsDay = !before || !isSameDay(dayBefore, day);
    const isApart = before?.role !== message.role || message.createdAt - before.createdAt > GROUP_MS;
    return { day, startsDay, startsGroup: startsDay || isApart };
  });
  return starts.map((start, index) => ({ ...start, endsGroup: starts[index + 1]?.startsGroup ?? true }));
}

function isSameDay(one: number, other: number): boolean {
  return new Date(one).toDateString() === new Date(other).toDateString();
}

/** "Today", "Yesterday" or the date, with the year unless it is the current one. */
export function dayLabel(
  at: number,
  now: number,
  strings: Pick<Strings, 'today' | 'yesterday'>,
  locale: string,
): string {
  const day = new Date(at);
  const today = new Date(now);
  if (isSameDay(at, now)) return strings.today;
  // Not 24 hours before: a day may have 23 or 25.
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1);
  if (isSameDay(at, yesterday.getTime())) return strings.yesterday;
  return new Intl.DateTimeFormat(locale, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    ...(day.getFullYear() === today.getFullYear() ? {} : { year: 'numeric' }),
  }).format(day);
}

export interface TimeTexts {
  /** Of the day. */
  readonly short: string;
  /** With the date. */
  readonly full: string;
}

/** Formats times. Making a formatter costs more than formatting with it, so a conversation makes one. */
export function timeFormat(locale: string): (at: number) => TimeTexts {
  const short = new Intl.DateTimeFormat(locale, { timeStyle: 'short' });
  const full = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'short' });
  return (at) => ({ short: short.format(at), full: full.format(at) });
}
