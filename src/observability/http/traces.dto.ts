import {
  type Channel,
  RUN_ERROR_CODES,
  type RunErrorCode,
  type RunStatus,
  type StepType,
  type UserContext,
} from '../../conversations/index.js';
import {
  EnumField,
  IntegerField,
  JsonField,
  JsonObjectField,
  NumberField,
  ObjectField,
  ObjectListField,
  QueryIntegerField,
  QueryStringField,
  QueryUuidField,
  StringField,
  TimestampField,
  UuidField,
} from '../../platform/http/index.js';

const CHANNELS = ['api', 'widget'] as const satisfies readonly Channel[];
const STATUSES = [
  'completed',
  'requires_action',
  'failed',
  'cancelled',
  'timed_out',
] as const satisfies readonly RunStatus[];
const STEP_TYPES = ['model', 'tool', 'retrieval', 'hook', 'memory'] as const satisfies readonly StepType[];
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 100;

export class ExportTracesQuery {
  @TimestampField({
    optional: true,
    description:
      'Traces of runs that started then or later. 90 days ago by default, and at the earliest; beside a cursor, as its walk began. After `toTimestamp` is 400.',
  })
  readonly fromTimestamp?: string;

  @TimestampField({ optional: true, description: 'Traces of runs that started before. Now by default; ignored beside a cursor.' })
  readonly toTimestamp?: string;

  @QueryStringField({ optional: true, description: '`meta.cursor` of the page before.' })
  readonly cursor?: string;
}

export class ListTracesQuery {
  @QueryIntegerField({ min: 1, optional: true, description: 'From 1, which is the default.' })
  readonly page: number = 1;

  @QueryIntegerField({
    min: 1,
    max: MAX_LIMIT,
    optional: true,
    description: `Traces a page, ${DEFAULT_LIMIT} by default.`,
  })
  readonly limit: number = DEFAULT_LIMIT;

  @QueryUuidField({ optional: true, description: 'Id of a thread: the traces of this conversation alone.' })
  readonly sessionId?: string;

  @TimestampField({
    optional: true,
    description: 'Traces of runs that started then or later. 90 days ago by default, and at the earliest. After `toTimestamp` is 400.',
  })
  readonly fromTimestamp?: string;

  @TimestampField({ optional: true, description: 'Traces of runs that started then or earlier. Now by default.' })
  readonly toTimestamp?: string;
}

export class TraceUsageResponse {
  @IntegerField({ nullable: true, description: 'Null when the provider broke off before it told.' })
  readonly inputTokens!: number | null;
  @IntegerField({ nullable: true })
  readonly outputTokens!: number | null;
  @IntegerField({ nullable: true })
  readonly totalTokens!: number | null;
  @NumberField()
  readonly credits!: number;
}

export class TraceErrorResponse {
  @EnumField(RUN_ERROR_CODES, { description: 'The `code` of `run.error` and of the stream\'s `RUN_ERROR`.' })
  readonly code!: RunErrorCode;
  @StringField({ description: 'What went wrong, in a sentence for people.' })
  readonly message!: string;
}

class TraceFields {
  @UuidField({ description: 'The same as the id of the run.' })
  readonly id!: string;
  @UuidField()
  readonly agentId!: string;
  @UuidField({ nullable: true, description: 'The assistant message; null when the run ended without one.' })
  readonly messageId!: string | null;
  @EnumField(CHANNELS)
  readonly channel!: Channel;
  @StringField()
  readonly provider!: string;
  @StringField()
  readonly model!: string;
  @EnumField(STATUSES)
  readonly status!: RunStatus;
  @TimestampField()
  readonly startedAt!: string;
  @IntegerField()
  readonly latencyMs!: number;
  @ObjectField(() => TraceUsageResponse)
  readonly usage!: TraceUsageResponse;
  @ObjectField(() => TraceErrorResponse, {
    nullable: true,
    description: 'Why the run failed or timed out; null for a run with another status.',
  })
  readonly error!: TraceErrorResponse | null;
}

export class TraceSummaryResponse extends TraceFields {
  @UuidField()
  readonly threadId!: string;

  @StringField({ description: "The user's message, or what was approved and declined; its first 200 characters." })
  readonly input!: string;
  @StringField({ description: 'The reply, its first 200 characters.' })
  readonly output!: string;
}

export class TraceListMetaResponse {
  @IntegerField()
  readonly page!: number;
  @IntegerField()
  readonly limit!: number;
  @IntegerField()
  readonly totalItems!: number;
  @IntegerField()
  readonly totalPages!: number;
}

export class TraceListResponse {
  @ObjectListField(() => TraceSummaryResponse, { description: 'Newest first.' })
  readonly traces!: readonly TraceSummaryResponse[];
  @ObjectField(() => TraceListMetaResponse)
  readonly meta!: TraceListMetaResponse;
}

export class TraceStepUsageResponse {
  @IntegerField({ nullable: true })
  readonly inputTokens!: number | null;
  @IntegerField({ nullable: true })
  readonly outputTokens!: number | null;
}

export class TraceStepProviderResponse {
  @StringField({ nullable: true, description: "The provider's id of the answer." })
  readonly id!: string | null;
  @StringField({ nullable: true, description: 'The model that the provider says wrote the answer, such as a dated version of `name`.' })
  readonly model!: string | null;
}

/** Where a step's input or output was too large to keep, this object stands in its place. */
const TRUNCATION =
  'Any JSON. A value over 64 KiB, or nested more than 64 levels deep, is kept as ' +
  '`{truncated: true, bytes, preview}`: its size and its beginning. Very many large steps keep less each.';

export class TraceStepResponse {
  @StringField()
  readonly id!: string;
  @EnumField(STEP_TYPES)
  readonly type!: StepType;
  @StringField()
  readonly name!: string;
  @TimestampField()
  readonly startedAt!: string;
  @IntegerField()
  readonly latencyMs!: number;
  @JsonField({ description: TRUNCATION })
  readonly input!: unknown;
  @JsonField({ description: TRUNCATION })
  readonly output!: unknown;
  @StringField({ nullable: true })
  readonly error!: string | null;
  @ObjectField(() => TraceStepUsageResponse, { optional: true })
  readonly usage?: TraceStepUsageResponse;
  @ObjectField(() => TraceStepProviderResponse, {
    optional: true,
    description: 'What the provider said of its answer; absent where it said nothing, and on steps that call no model.',
  })
  readonly response?: TraceStepProviderResponse;
}

export class SessionContextResponse {
  @StringField()
  readonly name!: string;
  @StringField()
  readonly context!: string;
}

export class SessionStartOutcomeResponse {
  @TimestampField()
  readonly fetchedAt!: string;
  @EnumField(['ok', 'degraded'], { description: '`degraded`: the hook failed, and the thread went on without contexts.' })
  readonly status!: 'ok' | 'degraded';
  @ObjectListField(() => SessionContextResponse)
  readonly contexts!: readonly SessionContextResponse[];
}

/** A trace whole; what is shown of its conversation besides differs. */
class WholeTraceFields extends TraceFields {
  @StringField({ description: "The user's message; of a run that resumed another, what was approved and declined." })
  readonly input!: string;
  @StringField({ description: 'The reply.' })
  readonly output!: string;
  @IntegerField({ nullable: true, description: 'Null when there was no text.' })
  readonly timeToFirstTokenMs!: number | null;
  @ObjectListField(() => TraceStepResponse, { description: 'In the order in which they ended.' })
  readonly steps!: readonly TraceStepResponse[];
  @JsonObjectField({ optional: true, description: 'Absent when the caller passed no `config.userContext`.' })
  readonly userContext?: UserContext;
}

export class TraceDetailResponse extends WholeTraceFields {
  @UuidField()
  readonly threadId!: string;
  @JsonObjectField({ description: 'Of the assistant message: at most one, by its name, with `comment` and `createdAt`.' })
  readonly reactions!: Readonly<Record<string, unknown>>;
  @ObjectField(() => SessionStartOutcomeResponse, {
    optional: true,
    nullable: true,
    description:
      'The same in every trace of a thread. Null when no session-start hook ran on it; absent for organizations without the feature.',
  })
  readonly sessionStartHook?: SessionStartOutcomeResponse | null;
}

export class ExportedTraceResponse extends WholeTraceFields {}

export class TraceExportMetaResponse {
  @StringField({ nullable: true, description: 'To be passed back for the next page; null at the end.' })
  readonly cursor!: string | null;
}

export class TraceExportResponse {
  @ObjectListField(() => ExportedTraceResponse, { description: 'Newest first; how many varies with their size.' })
  readonly traces!: readonly ExportedTraceResponse[];
  @ObjectField(() => TraceExportMetaResponse)
  readonly meta!: TraceExportMetaResponse;
}
