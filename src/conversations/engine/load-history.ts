import { Injectable } from '@nestjs/common';
import { type CatalogueModel, findModel, type ModelMessage } from '../../models/index.js';
import { type HistoryEntry, type Message, toModelMessages } from '../domain/message.js';
import { MessageRepository } from '../persistence/message.repository.js';
import type { TurnContext } from '../ports/index.js';
import { charactersOf, roomBeside, sum, withChosenAttachments } from './choose-attachments.js';
import { type Exchange, exchangesOf, newestThatFit, sizeOf } from './fit-history.js';
import { RecallAttachments } from './recall-attachments.js';
import { HISTORY_CHARACTERS, HISTORY_PAGE } from './tunables.js';

export interface LoadedHistory {
  /** Oldest first. */
  readonly exchanges: readonly (readonly ModelMessage[])[];
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
  constructor(
    private readonly messages: MessageRepository,
    private readonly attachments: RecallAttachments,
  ) {}

  async run({ organizationId, threadId, runId, agent, userMessage, isFirstTurn }: TurnContext): Promise<LoadedHistory> {
    if (isFirstTurn) return NOTHING;
    const model = findModel(agent.provider.type, agent.provider.model);
    const newest = userMessage.attachments ?? [];
    const budget = Math.max(0, budgetOf(model) - sum(newest.map(charactersOf)));
    const room = roomBeside(newest, budget);
    const entriesOf = (messages: readonly Message[]): HistoryEntry[] =>
      withChosenAttachments(toModelMessages(messages), room);
    let stored: Message[] = [];
    let whole = false;
    while (!whole && sizeOf(entriesOf(stored)) <= budget) {
      const before = stored[0]?.id ?? null;
      const page = await this.messages.page(organizationId, threadId, { before, limit: HISTORY_PAGE });
      whole = page.length < HISTORY_PAGE;
      stored = [...page, ...stored];
    }
    const earlier = stored.filter((message) => message.runId !== runId);
    const all = exchangesOf(entriesOf(earlier));
    const exchanges = newestThatFit(all, budget);
    const complete = whole && exchanges.length === all.length;
    const [recalled, omittedMessages] = await Promise.all([
      this.attachments.run(organizationId, exchanges),
      complete ? 0 : this.omitted(threadId, earlier, exchanges),
    ]);
    return { exchanges: recalled, omittedMessages };
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
