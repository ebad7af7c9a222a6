import { Injectable } from '@nestjs/common';
import type { ReactionName } from '../domain/message.js';
import { type ReactionView, reactionView } from '../engine/presenters.js';
import { ReactionRepository } from '../persistence/reaction.repository.js';

/** At most one reaction, by its name. */
export type Reactions = Readonly<Partial<Record<ReactionName, ReactionView>>>;

export interface ReactionCount {
  readonly reaction: ReactionName;
  readonly count: number;
}

/** What users thought of replies, for other contexts. */
@Injectable()
export class ReadReactions {
  constructor(private readonly reactions: ReactionRepository) {}

  /** The reaction to one message; empty where it has none or is gone. */
  async of(organizationId: string, messageId: string): Promise<Reactions> {
    return reactionView(await this.reactions.find(organizationId, messageId));
  }

  /**
   * How many replies of an agent have each reaction; those that none has are left out.
   * @param range in which the runs of the replies started, `to` not included
   */
  count(
    organizationId: string,
    agentId: string,
    range: { readonly from: Date; readonly to: Date },
  ): Promise<ReactionCount[]> {
    return this.reactions.count(organizationId, agentId, range);
  }
}
