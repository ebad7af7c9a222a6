import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/index.js';
import { type BucketWidth, Usage, type UsageFacts, type UsageHistograms, type UsageSummary } from '../domain/usage.js';
import {
  ADD_TRACE_COUNTS,
  ADD_USERS,
  FIND_USAGE,
  MARK_PUBLISHED,
  LOCK_PUBLISHING,
  SET_USAGE,
  TAKE_USAGE_WITHOUT_TRACE,
  TRACES_TO_PUBLISH,
} from './publish-traces.sql.js';
import { DURATIONS, FIRST_TOKENS } from './traces.schema.js';

export interface TraceToPublish {
  readonly id: string;
  readonly organizationId: string;
}

interface CountedRun extends UsageFacts {
  readonly organizationId: string;
  /** Hour and day of its start, in milliseconds since 1970. */
  readonly hour: number;
  readonly day: number;
}

export interface PublishedTrace extends CountedRun, TraceToPublish {
  readonly withheld: boolean;
  readonly hasReply: boolean;
  readonly userKey: string | null;
}

interface Bucket {
  readonly organizationId: string;
  readonly agentId: string;
  readonly width: BucketWidth;
  readonly start: number;
  readonly usage: Usage;
}

/** A row of `USAGE_COLUMNS`: the stored usage of an agent in one bucket of time. */
export interface UsageColumns extends Omit<UsageSummary, 'duration' | 'firstToken'> {
  readonly agentId: string;
  readonly width: BucketWidth;
  /** In milliseconds since 1970. */
  readonly start: number;
  readonly durationP50: number | null;
  readonly durationP95: number | null;
  readonly firstTokenP50: number | null;
  readonly firstTokenP95: number | null;
}

type UsageWithHistograms = UsageColumns & { readonly [Name in keyof UsageHistograms]: unknown };

@Injectable()
export class PublishTracesRepository {
  constructor(private readonly database: Database) {}

  /** The oldest unpublished traces of runs that ended before, at most `limit`. */
  due(before: Date, limit: number): Promise<TraceToPublish[]> {
    return TRACES_TO_PUBLISH.run<TraceToPublish>(this.database, { before, limit });
  }

  /**
   * Counts the unpublished ones of the traces, and makes them exportable.
   * @param withheldUntil by organization, ISO 8601 or `infinity`: traces of runs that started until then are never exported
   */
  async publish(
    transaction: Transaction,
    ids: readonly string[],
    withheldUntil: Readonly<Record<string, string>>,
    publishedAt: Date,
  ): Promise<PublishedTrace[]> {
    await LOCK_PUBLISHING.run(transaction, {});
    const published = await MARK_PUBLISHED.run<PublishedTrace>(transaction, { ids, withheldUntil, publishedAt });
    if (published.length === 0) return published;
    await ADD_TRACE_COUNTS.run(transaction, { counts: published.map(toCount) });
    await this.addUsage(transaction, toBuckets(published));
    const users = toUsers(published);
    if (users.length > 0) await ADD_USERS.run(transaction, { users });
    return published;
  }

  /**
   * Counts the usage of runs whose traces were deleted before they were published, and the usage of suggestions.
   * @param limit of the rows of each kind
   * @returns how many rows of both kinds
   */
  async countWithoutTrace(transaction: Transaction, limit: number): Promise<number> {
    await LOCK_PUBLISHING.run(transaction, {});
    const used = await TAKE_USAGE_WITHOUT_TRACE.run<CountedRun>(transaction, { limit });
    if (used.length > 0) await this.addUsage(transaction, toBuckets(used));
    return used.length;
  }

  private async addUsage(transaction: Transaction, buckets: ReadonlyMap<string, Bucket>): Promise<void> {
    const all = [...buckets.values()];
    const kept = await FIND_USAGE.run<UsageWithHistograms>(transaction, {
      agentIds: all.map(({ agentId }) => agentId),
      widths: all.map(({ width }) => width),
      starts: all.map(({ start }) => isoOf(start)),
    });
    for (const row of kept)
      buckets.get(keyOf(row.agentId, row.width, row.start))?.usage.merge(toUsageSummary(row), readHistograms(row));
    await SET_USAGE.run(transaction, { usage: all.map(toUsageRow) });
  }
}

function toUsageRow({ organizationId, agentId, width, start, usage }: Bucket): object {
  const { runs, failed, inputTokens, outputTokens, creditUnits, duration, firstToken } = usage.summary;
  const { durations, firstTokens } = usage.histograms;
  return {
    ...{ organization_id: organizationId, agent_id: agentId, width, bucket_start: isoOf(start), runs, failed },
    ...{ input_tokens: inputTokens, output_tokens: outputTokens, credit_units: creditUnits },
    ...{ duration_p50: duration.p50, duration_p95: duration.p95, durations },
    ...{ first_token_p50: firstToken.p50, first_token_p95: firstToken.p95, first_tokens: firstTokens },
  };
}

function toBuckets(runs: readonly CountedRun[]): Map<string, Bucket> {
  const buckets = new Map<string, Bucket>();
  for (const run of runs) {
    const { organizationId, agentId, hour, day } = run;
    for (const [width, start] of [
      ['hour', hour],
      ['day', day],
    ] as const) {
      const key = keyOf(agentId, width, start);
      const bucket = buckets.get(key) ?? { organizationId, agentId, width, start, usage: new Usage() };
      buckets.set(key, bucket);
      bucket.usage.add(run);
    }
  }
  return buckets;
}

function toCount({ organizationId, agentId, hour, hasReply }: PublishedTrace): object {
  return {
    organization_id: organizationId,
    agent_id: agentId,
    hour: isoOf(hour),
    traces: 1,
    replies: hasReply ? 1 : 0,
  };
}

function toUsers(published: readonly PublishedTrace[]): object[] {
  return published.flatMap(({ organizationId, agentId, day, userKey }) =>
    userKey === null
      ? []
      : [{ organization_id: organizationId, agent_id: agentId, day: isoOf(day), user_key: userKey }],
  );
}

function keyOf(agentId: string, width: BucketWidth, start: number): string {
  return `${agentId} ${width} ${String(start)}`;
}

function isoOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

export function readHistograms({
  durations,
  firstTokens,
}: { readonly [Name in keyof UsageHistograms]: unknown }): UsageHistograms {
  return { durations: DURATIONS.read(durations), firstTokens: FIRST_TOKENS.read(firstTokens) };
}

export function toUsageSummary(row: UsageColumns): UsageSummary {
  const { runs, failed, inputTokens, outputTokens, creditUnits } = row;
  const duration = { p50: row.durationP50, p95: row.durationP95 };
  const firstToken = { p50: row.firstTokenP50, p95: row.firstTokenP95 };
  return { runs, failed, inputTokens, outputTokens, creditUnits, duration, firstToken };
}
