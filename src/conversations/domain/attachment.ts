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

/** The model reads this instead of a file that is not sent again. */
export function leftOutNote(file: Named): string {
  return attachedNote(file, LEFT_OUT);
}

/** The model reads this instead of a file for which the process has no memory left. */
export function noRoomNote(file: Named): string {
  return attachedNote(file, NO_ROOM);
}

/** The model reads this instead of a file that can no longer be read. */
export function unreadableNote(file: Named): string {
  return attachedNote(file, 'It can no longer be read.');
}

/** The model reads this instead of an empty file, which providers refuse. */
export function emptyNote(file: Named): string {
  return attachedNote(file, EMPTY);
}

/** Why a request lacks an image or a file of a tool's result. */
export type MediaOmission = 'left_out' | 'no_room' | 'empty' | 'refused';

/** The model reads this in its place. */
export function mediaNote({ name, mediaType: contentType }: ModelMedia, why: MediaOmission): string {
  return note({ name, contentType }, 'was part of this result', MEDIA_OMISSIONS[why]);
}

const LEFT_OUT = 'It is not shown again, to leave room for what is newer.';
const NO_ROOM = 'It cannot be shown at the moment.';
const EMPTY = 'It is empty.';

const MEDIA_OMISSIONS: Readonly<Record<MediaOmission, string>> = {
  left_out: LEFT_OUT,
  no_room: NO_ROOM,
  empty: EMPTY,
  refused: 'It could not be shown: the model provider did not take it.',
};

function attachedNote(file: Named, what: string): string {
  return note(file, 'was attached to this message', what);
}

function note({ name, contentType }: Named, where: string, what: string): string {
  return `[The file ${JSON.stringify(name)} (${contentType}) ${where}. ${what}]`;
}
