import { z } from 'zod';
import type { ModelMedia } from '../../models/index.js';
import type { Stored } from '../../platform/stored-json/index.js';

/** A file beside a user's message, as it is kept with the message; its bytes are in the file store. */
export const messageAttachment = z.object({
  /** The upload, or the copy that was made when the message was accepted. */
  fileId: z.string(),
  name: z.string(),
  /** What the bytes are, which may be more exact than what the client declared. */
  contentType: z.string(),
  kind: z.enum(['image', 'pdf', 'text']),
  /** In bytes, as a model gets it. */
  size: z.number(),
  /** Where the client said it is; null for what is in the file store alone. */
  url: z.string().nullable().default(null),
});
export type MessageAttachment = Stored<typeof messageAttachment>;

type Named = Pick<MessageAttachment, 'name' | 'contentType'>;

/** What the model reads in place of a file that is not sent again. */
export function leftOutNote(file: Named): string {
  return attachedNote(file, LEFT_OUT);
}

/** What the model reads in place of a file that there is no memory for. */
export function noRoomNote(file: Named): string {
  return attachedNote(file, NO_ROOM);
}

/** What the model reads in place of a file that is gone. */
export function goneNote(file: Named): string {
  return attachedNote(file, 'It can no longer be read.');
}

/** Providers refuse a document without content. */
export function emptyNote(file: Named): string {
  return attachedNote(file, EMPTY);
}

/** Why the model is not shown what a tool showed. */
export type MediaOmission = 'left_out' | 'no_room' | 'empty' | 'refused';

/** What the model reads then. */
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
