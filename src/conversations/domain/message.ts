import type { JsonObject, ModelMessage } from '../../models/index.js';
import type { MessageAttachment } from './attachment.js';

export type MessageRole = 'user' | 'assistant';
/** `incomplete`: cut short, the text is what had arrived; `failed`: kept though nothing came of it. */
export type MessageStatus = 'completed' | 'incomplete' | 'failed';

/** `unknown`: under way when its process died; it may or may not have had its effect. */
export type ToolCallStatus = 'running' | 'completed' | 'failed' | 'denied' | 'unknown';

export interface ToolCallRecord {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly output?: string;
  readonly status: ToolCallStatus;
}

export type ReactionName = 'thumbs_up' | 'thumbs_down';

/** What the user thought of a reply. */
export interface Reaction {
  readonly reaction: ReactionName;
  readonly comment: string | null;
  /** ISO 8601. */
  readonly createdAt: string;
}

export interface Message {
  readonly id: string;
  readonly threadId: string;
  readonly runId: string | null;
  readonly role: MessageRole;
  readonly content: string;
  readonly status: MessageStatus;
  readonly blocked: boolean;
  /** Of a user's message; absent for none. */
  readonly attachments?: readonly MessageAttachment[];
  readonly reaction: Reaction | null;
  readonly toolCalls: readonly ToolCallRecord[];
  /** An assistant message that used tools, as the model has to read it again; empty otherwise. */
  readonly transcript: readonly ModelMessage[];
  readonly createdAt: Date;
}

/** Text of one message that stays apart from what followed a tool call. */
export const SEGMENT_BREAK = '\n\n';

const UNKNOWN_OUTCOME = 'The outcome of this call is unknown: the service stopped while it was under way.';

/** What a user said, with files that are named and not read yet. */
export interface UserEntry {
  readonly role: 'user';
  readonly text: string;
  readonly attached?: readonly MessageAttachment[];
}

/** An entry of the conversation as it is stored. */
export type HistoryEntry = Exclude<ModelMessage, { role: 'user' }> | UserEntry;

/** The text of an entry, and after it what stands for files that do not come along. */
export function withNotes(text: string, notes: readonly string[]): string {
  return [text, ...notes].filter((part) => part !== '').join('\n\n');
}

/** Stored messages, oldest first, as a model reads them: a prompt that was blocked stays kept from it. */
export function toModelMessages(messages: readonly Message[]): HistoryEntry[] {
  const blockedRuns = new Set(messages.filter(({ blocked }) => blocked).map(({ runId }) => runId));
  return messages.flatMap((message) => {
    if (message.runId !== null && blockedRuns.has(message.runId)) return [];
    if (message.role === 'user') return [userEntry(message)];
    if (message.transcript.length > 0) return withEveryResult(message.transcript);
    return message.content === '' ? [] : [{ role: 'assistant' as const, text: message.content, toolCalls: [] }];
  });
}

function userEntry({ content: text, attachments: attached }: Message): UserEntry {
  return { role: 'user', text, ...(attached ? { attached } : {}) };
}

/** Providers refuse a conversation in which a tool call has no result. */
function withEveryResult(transcript: readonly ModelMessage[]): ModelMessage[] {
  const answered = new Set(transcript.flatMap((entry) => (entry.role === 'tool' ? [entry.toolCallId] : [])));
  return transcript.flatMap((entry): ModelMessage[] => {
    if (entry.role !== 'assistant') return [entry];
    const missing = entry.toolCalls.filter((call) => !answered.has(call.id));
    return [
      entry,
      ...missing.map((call) => ({
        role: 'tool' as const,
        toolCallId: call.id,
        toolName: call.name,
        output: UNKNOWN_OUTCOME,
        isError: true,
      })),
    ];
  });
}
