import { DomainError } from '../../../platform/errors/index.js';

export type UnreadableReason =
  'empty' | 'unsupported_type' | 'type_mismatch' | 'encrypted' | 'broken' | 'too_large' | 'too_slow' | 'no_text';

/** The document cannot be read, and another attempt would not change that. `message` is for the person whose document it is. */
export class UnreadableDocument extends DomainError {
  constructor(
    readonly reason: UnreadableReason,
    message: string,
    wording: { readonly detail?: string; readonly cause?: unknown } = {},
  ) {
    super('unprocessable', message, wording);
  }
}

export function passwordProtected(what: 'file' | 'PDF'): UnreadableDocument {
  const message = `The ${what} is protected by a password. Save it without one and upload it again.`;
  return new UnreadableDocument('encrypted', message);
}
