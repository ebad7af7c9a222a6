import { Injectable } from '@nestjs/common';
import { type ReactionCount, ReadReactions } from '../../conversations/index.js';
import type { TimeRange } from '../domain/analytics-range.js';
import { AnalyticsRepository } from '../persistence/analytics.repository.js';

/** How an agent's users rated its replies. */
export interface Feedback {
  readonly messages: number;
  /** Distinct users of the runs. */
  readonly users: number;
  readonly reactions: readonly ReactionCount[];
}

@Injectable()
export class ReadFeedback {
  constructor(
    private readonly analytics: AnalyticsRepository,
    private readonly reactions: ReadReactions,
  ) {}

  /** Counts the existing replies of runs that started within the range. */
  async execute(organizationId: string, agentId: string, range: TimeRange): Promise<Feedback> {
    if (range.to <= range.from) return { messages: 0, users: 0, reactions: [] };
    const [messages, users, reactions] = await Promise.all([
      this.analytics.replies(organizationId, agentId, range),
      this.analytics.users(organizationId, agentId, range),
      this.reactions.count(organizationId, agentId, range),
    ]);
    return { messages, users, reactions };
  }
}
