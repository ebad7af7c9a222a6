import { Injectable } from '@nestjs/common';
import type { ReactionName } from '../domain/message.js';
import { type Reactions, reactionView } from '../engine/presenters.js';
import { MessageRepository } from '../persistence/message.repository.js';

export interface ReactionCount {
  readonly reaction: ReactionName;
  readonly count: number;
}

/** Reactions to replies, for other contexts. */
@Injectable()
export class ReadReactions {
  constructor(private readonly messages: MessageRepository) {}

  /** The reaction to a message; empty when it has none, or does not exist. */
  async of(organizationId: string, messageId: string): Promise<Reactions> {
    return reactionView(await this.messages.findReaction(organizationId, messageId));
  }

  /**
   * How many replies of an agent have each reaction. Reactions without a reply are left out.
   * @param range in which the runs of the replies started, `to` not included
   */
  count(
    organizationId: string,
    agentId: string,
    range: { readonly from: Date; readonly to: Date },
  ): Promise<ReactionCount[]> {
    return this.messages.countReactions(organizationId, agentId, range);
  }
}
