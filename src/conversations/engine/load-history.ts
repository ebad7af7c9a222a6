import { Injectable } from '@nestjs/common';
import { type CatalogueModel, findModel } from '../../models/index.js';
import { type Message, toModelMessages } from '../domain/message.js';
import { MessageRepository } from '../persistence/message.repository.js';
import type { TurnContext } from '../ports/index.js';
import { type Exchange, exchangesOf, newestThatFit, sizeOf } from './fit-history.js';
import { HISTORY_CHARACTERS, HISTORY_PAGE } from './tunables.js';

export interface LoadedHistory {
  /** Oldest first. */
  readonly exchanges: readonly Exchange[];
  /** Messages of the thread that the model is not given because they would not fit. */
  readonly omittedMessages: number;
}

const NOTHING: LoadedHistory = { exchanges: [], omittedMessages: 0 };

/**
 * Reads what was said before, the newest first and no more of it than the model can take: a long
 * thread costs a turn no more than its own context does.
 */
@Injectable()
export class LoadHistory {
  constructor(private readonly messages: MessageRepository) {}

  async run({ organizationId, threadId, runId, agent, isFirstTurn }: TurnContext): Promise<LoadedHistory> {
    if (isFirstTurn) return NOTHING;
    const budget = budgetOf(findModel(agent.provider.type, agent.provider.model));
    let stored: Message[] = [];
    let whole = false;
    while (!whole && sizeOf(toModelMessages(stored)) <= budget) {
      const before = stored[0]?.id ?? null;
      const page = await this.messages.page(organizationId, threadId, { before, limit: HISTORY_PAGE });
      whole = page.length < HISTORY_PAGE;
      stored = [...page, ...stored];
    }
    const earlier = stored.filter((message) => message.runId !== runId);
    const all = exchangesOf(toModelMessages(earlier));
    const exchanges = newestThatFit(all, budget);
    const complete = whole && exchanges.length === all.length;
    return { exchanges, omittedMessages: complete ? 0 : await this.omitted(threadId, earlier, exchanges) };
  }

  /** Everything before the first message that was kept. */
  private async omitted(threadId: string, stored: readonly Message[], kept: readonly Exchange[]): Promise<number> {
    const asked = stored.filter(({ role }) => role === 'user');
    const first = asked[asked.length - kept.length] ?? null;
    return first ? this.messages.countBefore(threadId, first.id) : this.messages.count(threadId);
  }
}

function budgetOf(model: CatalogueModel | undefined): number {
  return HISTORY_CHARACTERS[model?.family ?? 'claude'];
}
