import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller, pathResource, type ApiKeyPrincipal } from '../../access/index.js';
import { REACTION_NAMES } from '../../conversations/index.js';
import { Clock } from '../../platform/clock/index.js';
import { ApiErrors, UuidParam } from '../../platform/http/index.js';
import { type Feedback, ReadFeedback } from '../application/read-feedback.js';
import { ReadUsage, type UsageBucket } from '../application/read-usage.js';
import { feedbackRange, usageRange } from '../domain/analytics-range.js';
import { MINUTES_SAVED_BY_REPLY } from '../limits.js';
import {
  FeedbackQuery,
  FeedbackResponse,
  type UsageBucketResponse,
  UsageQuery,
  UsageResponse,
} from './analytics.dto.js';

@ApiTags('Analytics')
@Controller('v1/agents/:agentId/analytics')
export class AnalyticsController {
  constructor(
    private readonly readFeedback: ReadFeedback,
    private readonly readUsage: ReadUsage,
    private readonly clock: Clock,
  ) {}

  @Get('feedback')
  @Access({ scope: 'none', resource: pathResource('agent', 'agentId') })
  @ApiOperation({ operationId: 'getFeedback', summary: 'How users rated the replies of an agent' })
  @ApiOkResponse({ type: FeedbackResponse })
  @ApiErrors(404)
  async feedback(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Query() { from, to }: FeedbackQuery,
  ): Promise<FeedbackResponse> {
    const range = feedbackRange(from, to, this.clock.now());
    const feedback = await this.readFeedback.execute(organizationId, agentId, range);
    return { from: range.from.toISOString(), to: range.to.toISOString(), ...feedbackView(feedback) };
  }

  @Get('usage')
  @Access({ scope: 'none', resource: pathResource('agent', 'agentId') })
  @ApiOperation({
    operationId: 'getUsage',
    summary: 'How much an agent was used, over time',
    description: 'Kept for 90 days. Runs of deleted conversations still count.',
  })
  @ApiOkResponse({ type: UsageResponse })
  @ApiErrors(404)
  async usage(
    @Caller() { organizationId }: ApiKeyPrincipal,
    @UuidParam('agentId') agentId: string,
    @Query() { from, to, bucket }: UsageQuery,
  ): Promise<UsageResponse> {
    const range = usageRange(from, to, bucket, this.clock.now());
    const series = await this.readUsage.execute(organizationId, agentId, range, bucket);
    return { from: range.from.toISOString(), to: range.to.toISOString(), bucket, series: series.map(bucketView) };
  }
}

function feedbackView({ messages, users, reactions }: Feedback): Omit<FeedbackResponse, 'from' | 'to'> {
  const counted = REACTION_NAMES.map((reaction) => {
    const count = reactions.find((each) => each.reaction === reaction)?.count ?? 0;
    return { reaction, count, share: messages === 0 ? 0 : Math.min(1, count / messages) };
  });
  const disliked = counted.find(({ reaction }) => reaction === 'thumbs_down')?.count ?? 0;
  const estimatedTimeSavedMinutes = Math.max(0, messages - disliked) * MINUTES_SAVED_BY_REPLY;
  return { messages, users, reactions: counted, estimatedTimeSavedMinutes };
}

function bucketView({ start, usage }: UsageBucket): UsageBucketResponse {
  const { runs, failed, inputTokens, outputTokens, creditUnits, duration, firstToken } = usage;
  const totals = { runs, failed, inputTokens, outputTokens, credits: creditUnits / 10_000 };
  return { start: start.toISOString(), ...totals, durationMs: duration, timeToFirstTokenMs: firstToken };
}
