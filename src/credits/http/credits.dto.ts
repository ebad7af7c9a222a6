import {
  IntegerField,
  NumberField,
  ObjectListField,
  QueryIntegerField,
  QueryStringField,
  QueryUuidField,
  StringField,
  TimestampField,
  UuidField,
} from '../../platform/http/index.js';
import { ENTRIES, PERIODS } from '../limits.js';

const CURSOR = { optional: true, description: 'The `nextCursor` of the page before.' };
const NEXT_CURSOR = { nullable: true, description: 'Opaque; null at the end.' };

export class ListPeriodsQuery {
  @QueryStringField(CURSOR)
  readonly cursor?: string;
  @QueryIntegerField({
    optional: true,
    min: 1,
    max: PERIODS.max,
    description: `${PERIODS.default} unless said otherwise.`,
  })
  readonly limit: number = PERIODS.default;
}

export class ListEntriesQuery {
  @QueryStringField(CURSOR)
  readonly cursor?: string;
  @QueryIntegerField({
    optional: true,
    min: 1,
    max: ENTRIES.max,
    description: `${ENTRIES.default} unless said otherwise.`,
  })
  readonly limit: number = ENTRIES.default;
  @QueryUuidField({
    optional: true,
    description:
      'Only entries of this period; none for a period that the organization does not have. A cursor belongs to the period it was answered for.',
  })
  readonly periodId?: string;
}

export class PeriodResponse {
  @UuidField({ description: 'The `periodId` of the entries.' })
  readonly id!: string;
  @TimestampField({ description: 'The first moment of a month in UTC.' })
  readonly startsAt!: string;
  @TimestampField({ description: 'The first moment of the next month.' })
  readonly endsAt!: string;
  @NumberField({ description: 'The sum of the period’s entries, to four decimals.' })
  readonly creditsUsed!: number;
  @IntegerField({
    nullable: true,
    description: 'What was set at the end of the period, or is set now; null where nothing was.',
  })
  readonly creditsIncluded!: number | null;
}

export class PeriodListResponse {
  @ObjectListField(() => PeriodResponse, { description: 'Newest first.' })
  readonly periods!: readonly PeriodResponse[];
  @StringField(NEXT_CURSOR)
  readonly nextCursor!: string | null;
}

export class EntryResponse {
  @UuidField({ description: 'Id of the entry.' })
  readonly id!: string;
  @TimestampField({ description: 'When the run ended, or the suggestions were made: the entry belongs to that month.' })
  readonly createdAt!: string;
  @UuidField({ description: 'The agent that ran; it may have been deleted since.' })
  readonly assistant_id!: string;
  @UuidField({
    nullable: true,
    description: 'The conversation of the run, which may have been deleted since; null for suggestions.',
  })
  readonly thread_id!: string | null;
  @UuidField({ nullable: true, description: 'The run that is paid for; null for suggestions.' })
  readonly runId!: string | null;
  @StringField({ description: 'Type of the provider that answered.' })
  readonly provider!: string;
  @StringField({ description: 'The model that answered.' })
  readonly model!: string;
  @IntegerField({ nullable: true, description: 'Null where the provider did not tell.' })
  readonly inputTokens!: number | null;
  @IntegerField({
    nullable: true,
    description: 'What the model wrote, thinking included; null where the provider did not tell.',
  })
  readonly outputTokens!: number | null;
  @NumberField({ description: 'To four decimals; 0 on an API key of the agent’s own.' })
  readonly credits!: number;
}

export class EntryListResponse {
  @ObjectListField(() => EntryResponse, { description: 'Newest first.' })
  readonly entries!: readonly EntryResponse[];
  @StringField(NEXT_CURSOR)
  readonly nextCursor!: string | null;
}
