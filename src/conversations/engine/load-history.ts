import { Injectable } from '@nestjs/common';
import { type CatalogueModel, findModel, type ModelMessage } from '../../models/index.js';
import { type HistoryEntry, type Message, toModelMessages } from '../domain/message.js';
import { MessageRepository } from '../persistence/message.repository.js';
import type { TurnContext } from '../ports/index.js';
import { charactersOf, roomBeside, sum, withChosenAttachments } from './choose-attachments.js';
import { exchangesOf, newestThatFit, sizeOf } from './fit-history.js';
import { RecallAttachments } from './recall-attachments.js';
import { HISTORY_CHARACTERS, HISTORY_PAGE } from './tunables.js';

export interface LoadedHistory {
  /** Oldest first. */
  readonly exchanges: readonly (readonly ModelMessage[])[];
  /** The exchange that a resumed turn goes on with; empty for a turn that a message begins. Never left out. */
  readonly begun: readonly ModelMessage[];
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
  constructor(
    private readonly messages: MessageRepository,
    private readonly attachments: RecallAttachments,
  ) {}

  async run(context: TurnContext): Promise<LoadedHistory> {
    const { organizationId, threadId, runId, agent, userMessage, isFirstTurn, decisions } = context;
    if (isFirstTurn) return NOTHING;
    const goesOn = decisions !== null;
    const newest = userMessage?.attachments ?? [];
    const own = budgetOf(findModel(agent.provider.type, agent.provider.model));
    const budget = Math.max(0, own - sum(newest.map(charactersOf)));
    const room = roomBeside(newest, budget);
    const entriesOf = (messages: readonly Message[]): HistoryEntry[] =>
      withChosenAttachments(toModelMessages(messages, goesOn ? 'open' : 'closed'), room);
    let stored: Message[] = [];
    let whole = false;
    while (!whole && (sizeOf(entriesOf(stored)) <= budget || (goesOn && !stored.some(isQuestion)))) {
      const before = stored[0]?.id ?? null;
      const page = await this.messages.page(organizationId, threadId, { before, limit: HISTORY_PAGE });
      whole = page.length < HISTORY_PAGE;
      stored = [...page, ...stored];
    }
    const earlier = stored.filter((message) => message.runId !== runId);
    const all = exchangesOf(entriesOf(earlier));
    const begun = goesOn ? (all.pop() ?? []) : [];
    const exchanges = newestThatFit(all, budget - sizeOf(begun));
    const complete = whole && exchanges.length === all.length;
    const kept = exchanges.length + (goesOn ? 1 : 0);
    const [recalled, [recalledBegun = []], omittedMessages] = await Promise.all([
      this.attachments.run(organizationId, exchanges),
      this.attachments.run(organizationId, [begun]),
      complete ? 0 : this.omitted(threadId, earlier, kept),
    ]);
    return { exchanges: recalled, begun: recalledBegun, omittedMessages };
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
