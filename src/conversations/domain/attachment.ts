/** A file beside a user's message, as it is kept with the message; its bytes are in the file store. */
export interface MessageAttachment {
  /** The upload, or the copy that was made when the message was accepted. */
  readonly fileId: string;
  readonly name: string;
  /** What the bytes are, which may be more exact than what the client declared. */
  readonly contentType: string;
  readonly kind: 'image' | 'pdf' | 'text';
  /** In bytes, as a model gets it. */
  readonly size: number;
  /** Where the client said it is; null for what is in the file store alone. */
  readonly url: string | null;
}

type Named = Pick<MessageAttachment, 'name' | 'contentType'>;

/** What the model reads in place of a file that is not sent again. */
export function leftOutNote(file: Named): string {
  return note(file, 'It is not shown again, to leave room for what is newer.');
}

/** What the model reads in place of a file that there is no memory for. */
export function noRoomNote(file: Named): string {
  return note(file, 'It cannot be shown at the moment.');
}

/** What the model reads in place of a file that is gone. */
export function goneNote(file: Named): string {
  return note(file, 'It can no longer be read.');
}

/** Providers refuse a document without content. */
export function emptyNote(file: Named): string {
  return note(file, 'It is empty.');
}

function note({ name, contentType }: Named, what: string): string {
  return `[The file ${JSON.stringify(name)} (${contentType}) was attached to this message. ${what}]`;
}
