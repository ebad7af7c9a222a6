export type ModelImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** What a user puts beside a message, neutral of any provider. `data` is base64. */
export type ModelAttachment =
  | { readonly kind: 'image'; readonly name: string; readonly mediaType: ModelImageType; readonly data: string }
  | { readonly kind: 'pdf'; readonly name: string; readonly mediaType: 'application/pdf'; readonly data: string }
  /** Never empty. */
  | { readonly kind: 'text'; readonly name: string; readonly mediaType: string; readonly text: string };

/** What a tool may show beside its text. `data` is base64; `mediaType` of audio is any `audio/*`. */
export type ModelMedia =
  | Extract<ModelAttachment, { readonly kind: 'image' | 'pdf' }>
  | { readonly kind: 'audio'; readonly name: string; readonly mediaType: string; readonly data: string };

/** A text file where a provider has no part of its own for one. */
export function labelledText({ name, mediaType, text }: Extract<ModelAttachment, { kind: 'text' }>): string {
  return `The attached file ${JSON.stringify(name)} (${mediaType}):\n\n${text}`;
}
