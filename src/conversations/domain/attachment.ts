import { z } from 'zod';
import type { ModelMedia } from '../../models/index.js';
import type { Stored } from '../../platform/stored-json/index.js';

/** A file attached to a user's message, as stored with the message; its bytes are in the file store. */
export const messageAttachment = z.object({
  /** The upload, or the copy that was made when the message was accepted. */
  fileId: z.string(),
  name: z.string(),
  /** The detected type, which may be more exact than the declared one. */
  contentType: z.string(),
  kind: z.enum(['image', 'pdf', 'text']),
  /** In bytes. */
  size: z.number(),
  /** The URL that the client sent; null for uploads and data URLs. */
  url: z.string().nullable().default(null),
});
export type MessageAttachment = Stored<typeof messageAttachment>;

type Named = Pick<MessageAttachment, 'name' | 'contentType'>;

/** Why a request lacks a file. */
export type Omission = keyof typeof OMISSIONS;

/** The model reads this instead of a file of a user's message. */
export function attachmentNote(file: Named, why: Omission): string {
  return note(file, 'was attached to this message', why);
}

/** The model reads this instead of an image or a file of a tool's result. */
export function mediaNote({ name, mediaType: contentType }: ModelMedia, why: Omission): string {
  return note({ name, contentType }, 'was part of this result', why);
}

const OMISSIONS = {
  left_out: 'It is not shown again, to leave room for what is newer.',
  /** The process has no memory left for it. */
  no_room: 'It cannot be shown at the moment.',
  /** Providers refuse empty files. */
  empty: 'It is empty.',
  unreadable: 'It can no longer be read.',
  refused: 'It could not be shown: the model provider did not take it.',
} as const;

function note({ name, contentType }: Named, where: string, why: Omission): string {
  return `[The file ${JSON.stringify(name)} (${contentType}) ${where}. ${OMISSIONS[why]}]`;
}
