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

const CURSOR = { optional: true, description: 'The `nextCursor` of the previous page.' };
const NEXT_CURSOR = { nullable: true, description: 'Opaque; null on the last page.' };

export class ListPeriodsQuery {
  @QueryStringField(CURSOR)
  readonly cursor?: string;
  @QueryIntegerField({ optional: true, min: 1, max: PERIODS.max, description: `The default is ${PERIODS.default}.` })
  readonly limit: number = PERIODS.default;
}

export class ListEntriesQuery {
  @QueryStringField(CURSOR)
  readonly cursor?: string;
  @QueryIntegerField({ optional: true, min: 1, max: ENTRIES.max, description: `The default is ${ENTRIES.default}.` })
  readonly limit: number = ENTRIES.default;
  @QueryUuidField({
    optional: true,
    description:
      'Only entries of this period; none for a period that the organization does not have. A cursor is valid only for the period it was returned for.',
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
  @NumberField({ description: 'The sum of the period’s entries, with four decimals.' })
  readonly creditsUsed!: number;
  @IntegerField({ nullable: true, description: 'The setting at the end of the period, or now; null if none was set.' })
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
  @TimestampField({ description: 'When the run ended or the suggestions were made. The entry belongs to this month.' })
  readonly createdAt!: string;
  @UuidField({ description: 'The agent, which may have been deleted.' })
  readonly assistant_id!: string;
  @UuidField({
    nullable: true,
    description: 'The conversation of the run, which may have been deleted; null for suggestions.',
  })
  readonly thread_id!: string | null;
  @UuidField({ nullable: true, description: 'The run; null for suggestions.' })
  readonly runId!: string | null;
  @StringField({ description: 'Type of the provider that answered.' })
  readonly provider!: string;
  @StringField({ description: 'The model that answered.' })
  readonly model!: string;
  @IntegerField({ nullable: true, description: 'Null if the provider did not report it.' })
  readonly inputTokens!: number | null;
  @IntegerField({ nullable: true, description: 'Includes thinking. Null if the provider did not report it.' })
  readonly outputTokens!: number | null;
  @IntegerField({
    nullable: true,
    description:
      'The part of `inputTokens` that the provider read from its prompt cache, at a lower price. Null if it did not report it.',
  })
  readonly cachedInputTokens!: number | null;
  @NumberField({ description: 'With four decimals; 0 if the agent uses its own API key.' })
  readonly credits!: number;
}

export class EntryListResponse {
  @ObjectListField(() => EntryResponse, { description: 'Newest first.' })
  readonly entries!: readonly EntryResponse[];
  @StringField(NEXT_CURSOR)
  readonly nextCursor!: string | null;
}
