import { z } from 'zod';
import type { JsonObject, ModelMessage } from '../../models/index.js';
import { sent, type Stored } from '../../platform/stored-json/index.js';
import { EXPIRED_UNANSWERED } from './approval.js';
import type { MessageAttachment } from './attachment.js';
import { unknownOutcome } from './run-abort.js';

export type MessageRole = 'user' | 'assistant';
/** `incomplete`: cut short, the text is what had arrived; `failed`: kept although the run failed. */
export type MessageStatus = 'completed' | 'incomplete' | 'failed';

/**
 * `awaiting_approval`: the run ended with the question whether to make it; `approved`: it is made in the run
 * that went on, and its result stands in that run's message; `denied`: not made, because a hook or a person
 * said so, or nobody approved it in time; `unknown`: under way when its process died; it may or may not have had its effect.
 */
const toolCallStatus = z.enum(['running', 'awaiting_approval', 'approved', 'completed', 'failed', 'denied', 'unknown']);
export type ToolCallStatus = Stored<typeof toolCallStatus>;

export const toolCallRecord = z.object({
  id: z.string(),
  name: z.string(),
  input: sent<JsonObject>(),
  output: z.string().optional(),
  status: toolCallStatus,
});
export type ToolCallRecord = Stored<typeof toolCallRecord>;

/** Something that the widget draws beside the reply's text. */
export const messageComponent = z.object({
  id: z.string(),
  /** What is drawn, such as `confirm`. */
  component: z.string(),
  props: sent<JsonObject>(),
  /** The same as prose. */
  fallback: z.string(),
});
export type MessageComponent = Stored<typeof messageComponent>;

export const REACTION_NAMES = ['thumbs_up', 'thumbs_down'] as const;
export type ReactionName = (typeof REACTION_NAMES)[number];

/** What the user thought of a reply. */
export const reaction = z.object({
  reaction: z.enum(REACTION_NAMES),
  comment: z.string().nullable().default(null),
  /** ISO 8601. */
  createdAt: z.string(),
});
export type Reaction = Stored<typeof reaction>;

export interface Message {
  readonly id: string;
  readonly threadId: string;
  readonly runId: string | null;
  /** The client's own id of a user's message; absent when it sent none. */
  readonly clientId?: string;
  readonly role: MessageRole;
  readonly content: string;
  readonly status: MessageStatus;
  readonly blocked: boolean;
  /** Of a user's message; absent for none. */
  readonly attachments?: readonly MessageAttachment[];
  /** What hooks have put beside a user's message, for models alone; absent for none. */
  readonly additionalContext?: readonly string[];
  readonly reaction: Reaction | null;
  readonly toolCalls: readonly ToolCallRecord[];
  readonly components: readonly MessageComponent[];
  /** An assistant message that used tools, as the model has to read it again; empty otherwise. */
  readonly transcript: readonly ModelMessage[];
  readonly createdAt: Date;
}

/** What anybody is shown of a message. */
export type ShownMessage = Omit<Message, 'transcript' | 'additionalContext'>;

export function awaitsApproval({ toolCalls }: Pick<Message, 'toolCalls'>): boolean {
  return toolCalls.some(({ status }) => status === 'awaiting_approval');
}

/** As the thread's next run will store it: what waits is declined, since nobody has answered in time. */
export function withExpiredCalls<Shown extends ShownMessage>(message: Shown): Shown {
  const toolCalls = message.toolCalls.map((call) =>
    call.status === 'awaiting_approval' ? { ...call, status: 'denied' as const, output: EXPIRED_UNANSWERED } : call,
  );
  return { ...message, toolCalls };
}

/** What a model reads of a message, and how it is found again. */
export type HistoryMessage = Pick<
  Message,
  'id' | 'runId' | 'role' | 'content' | 'blocked' | 'attachments' | 'additionalContext' | 'toolCalls' | 'transcript'
>;

/** Text of one message that stays apart from what followed a tool call. */
export const SEGMENT_BREAK = '\n\n';

/** What a user said, with files that are named and not read yet. */
export interface UserEntry {
  readonly role: 'user';
  readonly text: string;
  readonly attached?: readonly MessageAttachment[];
  /** As in `ModelMessage`. */
  readonly guidance?: true | 'unreadable_call';
}

type Answered = Exclude<ModelMessage, { role: 'user' }>;
type AssistantEntry = Extract<Answered, { role: 'assistant' }>;
/** A tool's result in the conversation. */
export type ResultEntry = Extract<Answered, { role: 'tool' }>;
type Call = AssistantEntry['toolCalls'][number];

/** An entry of the conversation as it is stored. */
export type HistoryEntry = Answered | UserEntry;

/** What the model reads of a user's message: the text, and beside it what hooks had to add. */
export function withContext(text: string, additionalContext: readonly string[]): string {
  return [text, ...additionalContext].join('\n\n');
}

/** Whether an exchange begins with the entry. */
export function beginsExchange(entry: HistoryEntry): boolean {
  return entry.role === 'user' && entry.guidance === undefined;
}

/** The text of an entry, and after it what stands for files that do not come along. */
export function withNotes(text: string, notes: readonly string[]): string {
  return [text, ...notes].filter((part) => part !== '').join('\n\n');
}

/**
 * Makes the function that says which of these messages a hook keeps from models: blocked messages of a sent history, and
 * both messages of a run whose prompt was blocked.
 */
export function blockedAmong(messages: readonly HistoryMessage[]): (message: HistoryMessage) => boolean {
  const runs = new Set(messages.flatMap(({ blocked, runId }) => (blocked && runId !== null ? [runId] : [])));
  return ({ blocked, runId }) => blocked || (runId !== null && runs.has(runId));
}

/** The result of a call that has none among the entries; null leaves the call without one. */
type MissingResult = (call: Call, answerIndex: number) => ResultEntry | null;

/**
 * Stored messages, oldest first, as a model reads them, without those that a hook has blocked.
 * @param end `open` for a run that continues the last exchange: the calls of its last answer may lack a result, and the exchange
 * keeps the provider's state
 */
export function toModelMessages(
  messages: readonly HistoryMessage[],
  end: 'closed' | 'open' = 'closed',
): HistoryEntry[] {
  const isBlocked = blockedAmong(messages);
  const stored = messages
    .filter((message) => !isBlocked(message))
    .flatMap((message) => entriesOf(message).map((entry) => ({ entry, records: message.toolCalls })));
  const openAnswer = end === 'open' ? stored.findLastIndex(({ entry }) => entry.role !== 'tool') : -1;
  const missing: MissingResult = (call, index) =>
    index === openAnswer ? null : missingResult(call, stored[index]?.records ?? []);
  const entries = inCallOrder(
    stored.map(({ entry }) => entry),
    missing,
  );
  const keptFrom = end === 'open' ? entries.findLastIndex(beginsExchange) : entries.length;
  return entries.map((entry, index) => (index < keptFrom ? withoutState(entry) : entry));
}

/**
 * Puts the results of an answer's calls behind the answer, in the order of the calls, since some providers match them by position.
 * Removes results without a call, which providers refuse. A call and its result may be in two messages: the call in the message of
 * the run that asked for approval, the result in that of the run that made the call.
 * @param missing providers also refuse a call without a result
 */
export function inCallOrder<Asked extends { readonly role: 'user' }>(
  entries: readonly (Answered | Asked)[],
  missing: MissingResult = () => null,
): (Answered | Asked)[] {
  const ordered: (Answered | Asked)[] = [];
  const results = new Map<string, ResultEntry>();
  let answerIndex = -1;
  const addResults = (): void => {
    const answer = entries[answerIndex];
    for (const call of answer?.role === 'assistant' ? answer.toolCalls : []) {
      const result = results.get(call.id) ?? missing(call, answerIndex);
      if (result) ordered.push(result);
    }
    results.clear();
  };
  for (const [index, entry] of entries.entries()) {
    if (entry.role === 'tool') {
      results.set(entry.toolCallId, entry);
      continue;
    }
    addResults();
    ordered.push(entry);
    answerIndex = index;
  }
  addResults();
  return ordered;
}

export function withoutState<Asked extends { readonly role: 'user' }>(entry: Answered | Asked): Answered | Asked {
  if (entry.role !== 'assistant' || entry.state === undefined) return entry;
  return { role: entry.role, text: entry.text, toolCalls: entry.toolCalls };
}

function entriesOf(message: HistoryMessage): readonly HistoryEntry[] {
  const { role, content, transcript } = message;
  if (role === 'user') return [userEntry(message)];
  if (transcript.length > 0) return transcript;
  return content === '' ? [] : [{ role, text: content, toolCalls: [] }];
}

function userEntry({ content, additionalContext = [], attachments: attached }: HistoryMessage): UserEntry {
  const text = withContext(content, additionalContext);
  return attached ? { role: 'user', text, attached } : { role: 'user', text };
}

/** For a call that was not made, or whose outcome is unknown. @param records the calls of the message that the call is in */
function missingResult({ id, name }: Call, records: readonly ToolCallRecord[]): ResultEntry {
  const denied = records.find((record) => record.id === id && record.status === 'denied');
  return {
    role: 'tool',
    toolCallId: id,
    toolName: name,
    output: denied?.output ?? unknownOutcome('server_shutdown'),
    isError: true,
  };
}
