import { DomainError } from '../../../platform/errors/index.js';

export type UnreadableReason =
  'empty' | 'unsupported_type' | 'type_mismatch' | 'encrypted' | 'broken' | 'too_large' | 'too_slow' | 'no_text';

/** A document that cannot be read, now or later. `message` is for the person whose document it is. */
export class UnreadableDocument extends DomainError {
  constructor(
    readonly reason: UnreadableReason,
    message: string,
    wording: { readonly detail?: string; readonly cause?: unknown } = {},
  ) {
    super('unprocessable', message, wording);
  }
}
