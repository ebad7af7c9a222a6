import { REACTION_NAMES, type ReactionName } from '../../conversations/index.js';
import {
  DateOrTimestampField,
  EnumField,
  IntegerField,
  NumberField,
  ObjectField,
  ObjectListField,
  TimestampField,
} from '../../platform/http/index.js';
import type { BucketWidth } from '../domain/usage.js';
import { MINUTES_SAVED_BY_REPLY, USAGE_DAYS, USAGE_DEFAULT_DAYS } from '../limits.js';

const BUCKETS = ['hour', 'day'] as const satisfies readonly BucketWidth[];

const DATES = 'A date (`2025-01-31`, a day in UTC) or a date and time.';

export class FeedbackQuery {
  @DateOrTimestampField({
    optional: true,
    description: `${DATES} Replies of runs that started then or later; 90 days ago by default, and at the earliest.`,
  })
  readonly from?: string;

  @DateOrTimestampField({
    optional: true,
    description: `${DATES} Replies of runs that started before; a date includes its day. Now by default.`,
  })
  readonly to?: string;
}

export class ReactionShareResponse {
  @EnumField(REACTION_NAMES, { description: 'Which reaction is counted.' })
  readonly reaction!: ReactionName;
  @IntegerField({ description: 'How many replies have it.' })
  readonly count!: number;
  @NumberField({ description: 'Its share of all messages, from 0 to 1; 0 if there are none.' })
  readonly share!: number;
}

export class FeedbackResponse {
  @TimestampField({ description: 'The start of the counted range.' })
  readonly from!: string;
  @TimestampField({ description: 'The end of the range, not included.' })
  readonly to!: string;
  @IntegerField({ description: "The agent's replies. Those of deleted conversations no longer count." })
  readonly messages!: number;
  @IntegerField({
    description: 'Distinct values of `config.userContext.userId`. Runs that name no user count for none.',
  })
  readonly users!: number;
  @ObjectListField(() => ReactionShareResponse, { description: 'One entry for each reaction, in a fixed order.' })
  readonly reactions!: readonly ReactionShareResponse[];
  @IntegerField({
    description:
      `An estimate: ${String(MINUTES_SAVED_BY_REPLY)} minutes for each reply, the assumed time for a person ` +
      'to read a question, find the answer and write it. Replies with thumbs down save none.',
  })
  readonly estimatedTimeSavedMinutes!: number;
}

export class UsageQuery {
  @DateOrTimestampField({
    optional: true,
    description: `${DATES} Rounded down to the start of its bucket. ${String(USAGE_DEFAULT_DAYS)} days before \`to\` by default; at most ${String(USAGE_DAYS)} days before it.`,
  })
  readonly from?: string;

  @DateOrTimestampField({
    optional: true,
    description: `${DATES} Rounded up to the end of its bucket; a date includes its day. Now by default.`,
  })
  readonly to?: string;

  @EnumField(BUCKETS, { optional: true, description: 'In UTC; `day` by default.' })
  readonly bucket: BucketWidth = 'day';
}

export class PercentilesResponse {
  @IntegerField({ nullable: true, description: 'Null if there are no values.' })
  readonly p50!: number | null;
  @IntegerField({ nullable: true, description: '95 % of the values are at most this; null if there are no values.' })
  readonly p95!: number | null;
}

export class UsageBucketResponse {
  @TimestampField({ description: 'First moment of the bucket.' })
  readonly start!: string;
  @IntegerField({ description: 'Runs that started in the bucket and have ended.' })
  readonly runs!: number;
  @IntegerField({ description: 'Those that failed or timed out.' })
  readonly failed!: number;
  @IntegerField({
    description: 'Tokens that models read in these runs and for suggestions, as far as the providers reported them.',
  })
  readonly inputTokens!: number;
  @IntegerField({
    description:
      'Tokens that models wrote in these runs and for suggestions, thinking included, as far as the providers reported them.',
  })
  readonly outputTokens!: number;
  @NumberField({ description: 'What these runs and suggestions cost, to four decimals.' })
  readonly credits!: number;
  @ObjectField(() => PercentilesResponse, {
    description: 'Milliseconds from the start of a run to its end, to within 2.5 %.',
  })
  readonly durationMs!: PercentilesResponse;
  @ObjectField(() => PercentilesResponse, {
    description: 'Milliseconds from the start of a run to its first text, to within 2.5 %.',
  })
  readonly timeToFirstTokenMs!: PercentilesResponse;
}

export class UsageResponse {
  @TimestampField({ description: 'Start of the first bucket.' })
  readonly from!: string;
  @TimestampField({ description: 'End of the last bucket.' })
  readonly to!: string;
  @EnumField(BUCKETS, { description: 'How wide the buckets are.' })
  readonly bucket!: BucketWidth;
  @ObjectListField(() => UsageBucketResponse, { description: 'Oldest first, without gaps.' })
  readonly series!: readonly UsageBucketResponse[];
}
