import { z } from 'zod';
import type { JsonObject, ModelMessage } from '../../models/index.js';
import { sent, type Stored } from '../../platform/stored-json/index.js';
import { EXPIRED_UNANSWERED, RESULT_EXPIRED } from './approval.js';
import type { MessageAttachment } from './attachment.js';
import { unknownOutcome } from './run-abort.js';

export const MESSAGE_ROLES = ['user', 'assistant'] as const;
export type MessageRole = (typeof MESSAGE_ROLES)[number];

/** `incomplete`: the run ended early. `failed`: the run failed before the model wrote text. */
export const MESSAGE_STATUSES = ['completed', 'incomplete', 'failed'] as const;
export type MessageStatus = (typeof MESSAGE_STATUSES)[number];

/**
 * `awaiting_approval`: the run ended with a request for approval. `awaiting_result`: the run ended with a call that the
 * caller makes. `approved`: the resumed run made the call, and its
 * message has the result. `denied`: not made, since a hook or a person refused it, or the request expired. `unknown`:
 * under way when the process died; the call may have had its effect.
 */
const toolCallStatus = z.enum([
  ...(['running', 'awaiting_approval', 'awaiting_result', 'approved', 'completed', 'failed', 'denied'] as const),
  'unknown',
]);
export const TOOL_CALL_STATUSES = toolCallStatus.options;
export type ToolCallStatus = Stored<typeof toolCallStatus>;

/** Where the reply shows a tool call or component. Earlier versions stored none. */
const partPlace = z.object({
  /** A part with a lower number was shown earlier. */
  order: z.int(),
  /** The number of UTF-16 characters of `content` before it. */
  offset: z.int(),
});
export type PartPlace = Stored<typeof partPlace>;

export const toolCallRecord = z.object({
  id: z.string(),
  name: z.string(),
  /** As the call was made. */
  input: sent<JsonObject>(),
  /** As the model had it; present where a person has changed it. */
  requestedInput: sent<JsonObject>().optional(),
  output: z.string().optional(),
  status: toolCallStatus,
  /** The tool is the caller's, who makes the call. */
  byCaller: z.literal(true).optional(),
  place: partPlace.optional(),
});
export type ToolCallRecord = Stored<typeof toolCallRecord>;

/** A response component, which the widget draws beside the reply's text. */
export const messageComponent = z.object({
  id: z.string(),
  /** The kind of component, such as `confirm`. */
  component: z.string(),
  props: sent<JsonObject>(),
  /** The component as prose. */
  fallback: z.string(),
  place: partPlace.optional(),
});
export type MessageComponent = Stored<typeof messageComponent>;

export const REACTION_NAMES = ['thumbs_up', 'thumbs_down'] as const;
export type ReactionName = (typeof REACTION_NAMES)[number];

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
  /** Only a user's message has attachments; absent for none. */
  readonly attachments?: readonly MessageAttachment[];
  /** Contexts that hooks added to a user's message; only models read them. Absent for none. */
  readonly additionalContext?: readonly string[];
  readonly reaction: Reaction | null;
  readonly toolCalls: readonly ToolCallRecord[];
  readonly components: readonly MessageComponent[];
  /** What models read instead of a reply's `content` when the reply used tools; empty otherwise. */
  readonly transcript: readonly ModelMessage[];
  readonly createdAt: Date;
}

/** The parts of a message that clients may see. */
export type ShownMessage = Omit<Message, 'transcript' | 'additionalContext'>;

export function hasOpenCalls({ toolCalls }: Pick<Message, 'toolCalls'>): boolean {
  return toolCalls.some(({ status }) => status === 'awaiting_approval' || status === 'awaiting_result');
}

/** The message with its waiting calls as expired, which is how the start of the thread's next run will store them. */
export function withExpiredCalls<Shown extends ShownMessage>(message: Shown): Shown {
  const approvals = changedCalls(message, 'awaiting_approval', { status: 'denied', output: EXPIRED_UNANSWERED });
  const toolCalls = changedCalls({ toolCalls: approvals }, 'awaiting_result', {
    status: 'denied',
    output: RESULT_EXPIRED,
  });
  return { ...message, toolCalls };
}

/** The message's calls, with `changes` in those that have the status. */
export function changedCalls(
  { toolCalls }: Pick<Message, 'toolCalls'>,
  status: ToolCallStatus,
  changes: Pick<ToolCallRecord, 'status' | 'output'>,
): ToolCallRecord[] {
  return toolCalls.map((call) => (call.status === status ? { ...call, ...changes } : call));
}

/** The parts of a message that models read, and its ids. */
export type HistoryMessage = Pick<
  Message,
  'id' | 'runId' | 'role' | 'content' | 'blocked' | 'attachments' | 'additionalContext' | 'toolCalls' | 'transcript'
>;

/** Separates the texts before and after a tool call in one message. */
export const SEGMENT_BREAK = '\n\n';

/** A user's message whose files are not loaded yet. */
export interface UserEntry {
  readonly role: 'user';
  readonly text: string;
  readonly attached?: readonly MessageAttachment[];
  /** As in `ModelMessage`. */
  readonly guidance?: true | 'unreadable_call';
}

type Answered = Exclude<ModelMessage, { role: 'user' }>;
type AssistantEntry = Extract<Answered, { role: 'assistant' }>;
export type ResultEntry = Extract<Answered, { role: 'tool' }>;
type Call = AssistantEntry['toolCalls'][number];

/** An entry of a conversation whose files are not loaded yet. */
export type HistoryEntry = Answered | UserEntry;

/** A user's text with the contexts that hooks added, as models read it. */
export function withContext(text: string, additionalContext: readonly string[]): string {
  return [text, ...additionalContext].join('\n\n');
}

/** Whether the entry is a user's message, and not guidance that the service gives to the model in the user's role. */
export function beginsExchange(entry: HistoryEntry): boolean {
  return entry.role === 'user' && entry.guidance === undefined;
}

/** The text of an entry, followed by the notes that replace omitted files. */
export function withNotes(text: string, notes: readonly string[]): string {
  return [text, ...notes].filter((part) => part !== '').join('\n\n');
}

/** Models get neither blocked messages nor both messages of a run whose prompt was blocked. */
export function blockedAmong(messages: readonly HistoryMessage[]): (message: HistoryMessage) => boolean {
  const runs = new Set(messages.flatMap(({ blocked, runId }) => (blocked && runId !== null ? [runId] : [])));
  return ({ blocked, runId }) => blocked || (runId !== null && runs.has(runId));
}

/** The result of a call that has none among the entries; null leaves the call without one. */
type MissingResult = (call: Call, answerIndex: number) => ResultEntry | null;

/**
 * Stored messages, oldest first, as a model reads them, without those that a hook has blocked.
 * @param end `open` for a run that continues the last exchange: the calls of its last answer may lack a result, and the
 * exchange keeps the provider's state
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
 * Puts the results of an answer's calls behind the answer, in the order of the calls, since some providers match them
 * by position. Removes results without a call, which providers refuse. A call and its result may be in two messages:
 * the call in the message of the run that asked for approval, the result in that of the run that made the call.
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

/** For a call that was not made, whose outcome is unknown, or whose result only the record has. */
function missingResult({ id, name }: Call, records: readonly ToolCallRecord[]): ResultEntry {
  const record = records.find((each) => each.id === id);
  const known = record?.status === 'denied' || record?.byCaller === true ? record : undefined;
  return {
    role: 'tool',
    toolCallId: id,
    toolName: name,
    output: known?.output ?? unknownOutcome('server_shutdown'),
    isError: known?.status !== 'completed',
  };
}
