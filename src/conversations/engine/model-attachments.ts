import type { FetchedAttachment } from '../../files/index.js';
import type { ModelAttachment, ModelMessage } from '../../models/index.js';
import { mediaOf } from './result-media.js';

export type ReadAttachment = Exclude<FetchedAttachment, { kind: 'refused' }>;

/** A loaded file in the form that requests to the model have. */
export function toModelAttachment(name: string, read: ReadAttachment): ModelAttachment {
  switch (read.kind) {
    case 'image':
      return { kind: 'image', name, mediaType: read.mediaType, data: read.data.toString('base64') };
    case 'pdf':
      return { kind: 'pdf', name, mediaType: read.mediaType, data: read.data.toString('base64') };
    case 'text':
      return { kind: 'text', name, mediaType: read.mediaType, text: read.data.toString('utf8') };
    default:
      return read satisfies never;
  }
}

/** The files of a request, as a trace has them: without content and URL. */
export function attachmentFacts(
  messages: readonly ModelMessage[],
): readonly { readonly name: string; readonly contentType: string; readonly size: number }[] {
  return messages
    .flatMap((message) => [...(message.role === 'user' ? (message.attachments ?? []) : []), ...mediaOf([message])])
    .map((file) => ({
      name: file.name,
      contentType: file.mediaType,
      size: file.kind === 'text' ? Buffer.byteLength(file.text) : Buffer.byteLength(file.data, 'base64'),
    }));
}
