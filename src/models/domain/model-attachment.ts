type ModelImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** A file that a user attaches to a message. `data` is base64. */
export type ModelAttachment =
  | { readonly kind: 'image'; readonly name: string; readonly mediaType: ModelImageType; readonly data: string }
  | { readonly kind: 'pdf'; readonly name: string; readonly mediaType: 'application/pdf'; readonly data: string }
  /** Never empty. */
  | { readonly kind: 'text'; readonly name: string; readonly mediaType: string; readonly text: string };

/** Media in the result of a tool. `data` is base64; `mediaType` of audio is any `audio/*`. */
export type ModelMedia =
  | Extract<ModelAttachment, { readonly kind: 'image' | 'pdf' }>
  | { readonly kind: 'audio'; readonly name: string; readonly mediaType: string; readonly data: string };

/** A text file as plain text, for APIs without a content part for text files. */
export function labelledText({ name, mediaType, text }: Extract<ModelAttachment, { kind: 'text' }>): string {
  return `The attached file ${JSON.stringify(name)} (${mediaType}):\n\n${text}`;
}
