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
      'Traces of runs that started then or later. 90 days ago by default, and at the earliest; with a cursor, the start of its export by default. After `toTimestamp` is 400.',
  })
  readonly fromTimestamp?: string;

  @TimestampField({
    optional: true,
    description: 'Traces of runs that started before. Now by default; ignored with a cursor.',
  })
  readonly toTimestamp?: string;

  @QueryStringField({ optional: true, description: '`meta.cursor` of the previous page.' })
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

  @QueryUuidField({ optional: true, description: 'Id of a thread: only the traces of this conversation.' })
  readonly sessionId?: string;

  @TimestampField({
    optional: true,
    description:
      'Traces of runs that started then or later. 90 days ago by default, and at the earliest. After `toTimestamp` is 400.',
  })
  readonly fromTimestamp?: string;

  @TimestampField({ optional: true, description: 'Traces of runs that started then or earlier. Now by default.' })
  readonly toTimestamp?: string;
}

export class TraceUsageResponse {
  @IntegerField({ nullable: true, description: 'Null if the provider broke off before it reported them.' })
  readonly inputTokens!: number | null;
  @IntegerField({ nullable: true, description: 'What the model wrote, thinking included; null as for `inputTokens`.' })
  readonly outputTokens!: number | null;
  @IntegerField({ nullable: true, description: 'The sum of both; null as for `inputTokens`.' })
  readonly totalTokens!: number | null;
  @IntegerField({
    nullable: true,
    description:
      'The part of `inputTokens` that the provider read from its prompt cache, at a lower price; null where it did not tell.',
  })
  readonly cachedInputTokens!: number | null;
  @NumberField({ description: "What the run cost, to four decimals; 0 on the agent's own API key." })
  readonly credits!: number;
}

export class TraceErrorResponse {
  @EnumField(RUN_ERROR_CODES, { description: "The `code` of `run.error` and of the stream's `RUN_ERROR`." })
  readonly code!: RunErrorCode;
  @StringField({ description: 'What went wrong, in a sentence for people.' })
  readonly message!: string;
}

class TraceFields {
  @UuidField({ description: 'The same as the id of the run.' })
  readonly id!: string;
  @UuidField({ description: 'The agent that ran.' })
  readonly agentId!: string;
  @UuidField({ nullable: true, description: 'The assistant message; null when the run ended without one.' })
  readonly messageId!: string | null;
  @EnumField(CHANNELS, { description: '`widget` for a conversation in the widget.' })
  readonly channel!: Channel;
  @StringField({ description: 'Type of the provider that the agent had.' })
  readonly provider!: string;
  @StringField({ description: 'The model that the agent had.' })
  readonly model!: string;
  @EnumField(STATUSES, { description: 'How the run ended.' })
  readonly status!: RunStatus;
  @TimestampField({ description: 'When the run was accepted.' })
  readonly startedAt!: string;
  @IntegerField({ description: 'Milliseconds from the start of the run to its end.' })
  readonly latencyMs!: number;
  @ObjectField(() => TraceUsageResponse, { description: 'What the run used, over all its calls of the model.' })
  readonly usage!: TraceUsageResponse;
  @ObjectField(() => TraceErrorResponse, {
    nullable: true,
    description: 'Why the run failed or timed out; null for a run with another status.',
  })
  readonly error!: TraceErrorResponse | null;
}

export class TraceSummaryResponse extends TraceFields {
  @UuidField({ description: 'The conversation; the `sessionId` that the list can be narrowed to.' })
  readonly threadId!: string;

  @StringField({ description: "The user's message, or what was approved and declined; its first 200 characters." })
  readonly input!: string;
  @StringField({ description: 'The reply, its first 200 characters.' })
  readonly output!: string;
}

export class TraceListMetaResponse {
  @IntegerField({ description: 'The page that was asked for, from 1.' })
  readonly page!: number;
  @IntegerField({ description: 'How many traces a page has at most.' })
  readonly limit!: number;
  @IntegerField({ description: 'How many traces match, on all pages.' })
  readonly totalItems!: number;
  @IntegerField({ description: 'How many pages they fill.' })
  readonly totalPages!: number;
}

export class TraceListResponse {
  @ObjectListField(() => TraceSummaryResponse, { description: 'Newest first.' })
  readonly traces!: readonly TraceSummaryResponse[];
  @ObjectField(() => TraceListMetaResponse, { description: 'The position of the page in the list.' })
  readonly meta!: TraceListMetaResponse;
}

export class TraceStepUsageResponse {
  @IntegerField({ nullable: true, description: 'What the model read; null if the provider did not report it.' })
  readonly inputTokens!: number | null;
  @IntegerField({ nullable: true, description: 'What the model wrote; null if the provider did not report it.' })
  readonly outputTokens!: number | null;
  @IntegerField({
    nullable: true,
    description:
      'The part of `inputTokens` that the provider read from its prompt cache; null if it did not report it.',
  })
  readonly cachedInputTokens!: number | null;
}

export class TraceStepProviderResponse {
  @StringField({ nullable: true, description: "The provider's id of the answer." })
  readonly id!: string | null;
  @StringField({
    nullable: true,
    description: 'The model that the provider says wrote the answer, such as a dated version of `name`.',
  })
  readonly model!: string | null;
}

const TRUNCATION =
  'Any JSON. A value over 64 KiB, or nested more than 64 levels deep, is kept as ' +
  '`{truncated: true, bytes, preview}`: its size and its beginning. If a run has very many large steps, each keeps less.';

export class TraceStepResponse {
  @StringField({ description: 'Unique in the trace.' })
  readonly id!: string;
  @EnumField(STEP_TYPES, {
    description: 'What the run called: the model, a tool, a knowledge search, a hook or the memory.',
  })
  readonly type!: StepType;
  @StringField({ description: 'The model, tool or hook event.' })
  readonly name!: string;
  @TimestampField({ description: 'When the step began.' })
  readonly startedAt!: string;
  @IntegerField({ description: 'How long the step took, in milliseconds.' })
  readonly latencyMs!: number;
  @JsonField({ description: TRUNCATION })
  readonly input!: unknown;
  @JsonField({
    optional: true,
    description: 'The arguments that the model wrote, where the person who approved the call changed them.',
  })
  readonly requestedInput?: unknown;
  @JsonField({ description: TRUNCATION })
  readonly output!: unknown;
  @StringField({ nullable: true, description: 'Why the step failed, for people; null if it did not.' })
  readonly error!: string | null;
  @ObjectField(() => TraceStepUsageResponse, {
    optional: true,
    description: 'Tokens of the step; only steps of type `model` have it.',
  })
  readonly usage?: TraceStepUsageResponse;
  @ObjectField(() => TraceStepProviderResponse, {
    optional: true,
    description: 'How the provider identifies its response; absent if it does not, and on steps that call no model.',
  })
  readonly response?: TraceStepProviderResponse;
}

export class SessionContextResponse {
  @StringField({ description: 'What the hook calls the context.' })
  readonly name!: string;
  @StringField({ description: 'The text that is added to the system prompt.' })
  readonly context!: string;
}

export class SessionStartOutcomeResponse {
  @TimestampField({ description: 'When the hook ran.' })
  readonly fetchedAt!: string;
  @EnumField(['ok', 'degraded'], {
    description: '`degraded`: the hook failed, and the thread continued without contexts.',
  })
  readonly status!: 'ok' | 'degraded';
  @ObjectListField(() => SessionContextResponse, {
    description: 'What the hook added to the thread; empty if it failed or added nothing.',
  })
  readonly contexts!: readonly SessionContextResponse[];
}

class WholeTraceFields extends TraceFields {
  @StringField({ description: "The user's message; of a run that resumed another, what was approved and declined." })
  readonly input!: string;
  @StringField({ description: 'The reply.' })
  readonly output!: string;
  @IntegerField({
    nullable: true,
    description: 'Milliseconds from the start of the run to its first text; null if there is none.',
  })
  readonly timeToFirstTokenMs!: number | null;
  @ObjectListField(() => TraceStepResponse, { description: 'In the order in which they ended.' })
  readonly steps!: readonly TraceStepResponse[];
  @JsonObjectField({ optional: true, description: 'Absent if the caller passed no `config.userContext`.' })
  readonly userContext?: UserContext;
}

export class TraceDetailResponse extends WholeTraceFields {
  @UuidField({ description: 'The conversation that the run was part of.' })
  readonly threadId!: string;
  @JsonObjectField({
    description: 'The reaction to the assistant message, by its name, with `comment` and `createdAt`; at most one.',
  })
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
  @StringField({ nullable: true, description: 'Pass it back for the next page; null on the last page.' })
  readonly cursor!: string | null;
}

export class TraceExportResponse {
  @ObjectListField(() => ExportedTraceResponse, { description: 'Newest first. The number depends on their size.' })
  readonly traces!: readonly ExportedTraceResponse[];
  @ObjectField(() => TraceExportMetaResponse, { description: 'The position of the export.' })
  readonly meta!: TraceExportMetaResponse;
}
