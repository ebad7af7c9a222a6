import { type HistoryEntry, type UserEntry, withNotes } from '../domain/message.js';
import { attachmentNote, type MessageAttachment } from '../domain/attachment.js';
import {
  IMAGE_CHARACTERS,
  PDF_BYTES_A_CHARACTER,
  PDF_LEAST_CHARACTERS,
  REQUEST_ATTACHMENTS,
  REQUEST_BASE64_BYTES,
} from './limits.js';

export interface AttachmentRoom {
  count: number;
  base64Bytes: number;
  characters: number;
}

/** The attachments of earlier messages may take half of the history's characters. */
export function roomBeside(newest: readonly MessageAttachment[], historyCharacters: number): AttachmentRoom {
  return {
    count: REQUEST_ATTACHMENTS - newest.length,
    base64Bytes: REQUEST_BASE64_BYTES - sum(newest.map(base64BytesOf)),
    characters: historyCharacters / 2,
  };
}

/**
 * The conversation with as many of its attachments as there is room for, the newest first. Notes replace the others.
 */
export function withChosenAttachments(entries: readonly HistoryEntry[], room: AttachmentRoom): HistoryEntry[] {
  const left = { ...room };
  return entries
    .toReversed()
    .map((entry) => (entry.role === 'user' && entry.attached ? choose(entry, entry.attached, left) : entry))
    .toReversed();
}

function choose(entry: UserEntry, attached: readonly MessageAttachment[], left: AttachmentRoom): HistoryEntry {
  const kept: MessageAttachment[] = [];
  const notes: string[] = [];
  for (const file of attached) {
    if (take(file, left)) kept.push(file);
    else notes.push(attachmentNote(file, 'left_out'));
  }
  return { role: 'user', text: withNotes(entry.text, notes), attached: kept };
}

function take(file: MessageAttachment, left: AttachmentRoom): boolean {
  const [base64Bytes, characters] = [base64BytesOf(file), charactersOf(file)];
  if (left.count < 1 || base64Bytes > left.base64Bytes || characters > left.characters) return false;
  left.count -= 1;
  left.base64Bytes -= base64Bytes;
  left.characters -= characters;
  return true;
}

/** The size of the file in a request's base64; text is sent as it is. */
export function base64BytesOf({ kind, size }: Pick<MessageAttachment, 'kind' | 'size'>): number {
  return kind === 'text' ? 0 : 4 * Math.ceil(size / 3);
}

/** The share of a model's context that the file takes, in characters of text. */
export function charactersOf({ kind, size }: Pick<MessageAttachment, 'kind' | 'size'>): number {
  switch (kind) {
    case 'image':
      return IMAGE_CHARACTERS;
    case 'pdf':
      return Math.max(PDF_LEAST_CHARACTERS, Math.ceil(size / PDF_BYTES_A_CHARACTER));
    case 'text':
      return size;
    default:
      return kind satisfies never;
  }
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
