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
  /** The exchange that a resumed turn goes on with; empty for a turn that a message begins. Never left out. */
  readonly begun: Exchange;
  /** Messages of the thread that the model is not given because they would not fit. */
  readonly omittedMessages: number;
}

const NOTHING: LoadedHistory = { exchanges: [], begun: [], omittedMessages: 0 };

/**
 * Reads what was said before, the newest first and no more of it than the model can take: a long
 * thread costs a turn no more than its own context does.
 */
@Injectable()
export class LoadHistory {
  constructor(private readonly messages: MessageRepository) {}

  async run({ organizationId, threadId, runId, agent, isFirstTurn, decisions }: TurnContext): Promise<LoadedHistory> {
    if (isFirstTurn) return NOTHING;
    const goesOn = decisions !== null;
    const budget = budgetOf(findModel(agent.provider.type, agent.provider.model));
    let stored: Message[] = [];
    let whole = false;
    while (!whole && (sizeOf(toModelMessages(stored)) <= budget || (goesOn && !stored.some(isQuestion)))) {
      const before = stored[0]?.id ?? null;
      const page = await this.messages.page(organizationId, threadId, { before, limit: HISTORY_PAGE });
      whole = page.length < HISTORY_PAGE;
      stored = [...page, ...stored];
    }
    const earlier = stored.filter((message) => message.runId !== runId);
    const all = exchangesOf(toModelMessages(earlier, goesOn ? 'open' : 'closed'));
    const begun = goesOn ? (all.pop() ?? []) : [];
    const exchanges = newestThatFit(all, budget - sizeOf(begun));
    const complete = whole && exchanges.length === all.length;
    const kept = exchanges.length + (goesOn ? 1 : 0);
    return { exchanges, begun, omittedMessages: complete ? 0 : await this.omitted(threadId, earlier, kept) };
  }

  /** Everything before the first message that was kept. */
  private async omitted(threadId: string, stored: readonly Message[], kept: number): Promise<number> {
    const asked = stored.filter(isQuestion);
    const first = asked[asked.length - kept] ?? null;
    return first ? this.messages.countBefore(threadId, first.id) : this.messages.count(threadId);
  }
}

function isQuestion({ role }: Message): boolean {
  return role === 'user';
}

function budgetOf(model: CatalogueModel | undefined): number {
  return HISTORY_CHARACTERS[model?.family ?? 'claude'];
}
