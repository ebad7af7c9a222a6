type Body = Readonly<Record<string, unknown>>;

/** A part of a user's message as the model was sent it; `data` is base64. */
export type SentPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'pdf'; readonly mediaType: string; readonly data: string; readonly name?: string }
  | { readonly kind: 'document'; readonly text: string; readonly name: string };

/** What each user message of a request is made of, by provider; results of tools are none. */
export function anthropicParts({ messages }: Body): SentPart[][] {
  return (messages as { role: string; content: string | AnthropicPart[] }[])
    .filter(({ role, content }) => role === 'user' && !(Array.isArray(content) && content[0]?.type === 'tool_result'))
    .map(({ content }) =>
      typeof content === 'string' ? [{ kind: 'text', text: content }] : content.map(anthropicPart),
    );
}

export function openaiParts({ input }: Body): SentPart[][] {
  return (input as { role?: string; content: string | OpenaiPart[] }[])
    .filter(({ role }) => role === 'user')
    .map(({ content }) => (typeof content === 'string' ? [{ kind: 'text', text: content }] : content.map(openaiPart)));
}

export function geminiParts({ contents }: Body): SentPart[][] {
  return (contents as { role: string; parts: GeminiUserPart[] }[])
    .filter(({ role, parts }) => role === 'user' && parts[0]?.functionResponse === undefined)
    .map(({ parts }) => parts.map(geminiPart));
}

interface AnthropicPart {
  readonly type: string;
  readonly text: string;
  readonly title: string;
  readonly source: { readonly type: string; readonly media_type: string; readonly data: string };
}

function anthropicPart({ type, text, title: name, source }: AnthropicPart): SentPart {
  if (type === 'text') return { kind: 'text', text };
  const { media_type: mediaType, data } = source;
  if (type === 'image') return { kind: 'image', mediaType, data };
  return source.type === 'text' ? { kind: 'document', text: data, name } : { kind: 'pdf', mediaType, data, name };
}

interface OpenaiPart {
  readonly type: string;
  readonly text: string;
  readonly image_url: string;
  readonly filename: string;
  readonly file_data: string;
}

function openaiPart({ type, text, image_url: image, filename: name, file_data: file }: OpenaiPart): SentPart {
  if (type === 'input_text') return textPart(text);
  const [, mediaType = '', data = ''] = /^data:([^;]*);base64,(.*)$/.exec(type === 'input_image' ? image : file) ?? [];
  return type === 'input_image' ? { kind: 'image', mediaType, data } : { kind: 'pdf', mediaType, data, name };
}

/** Providers without a part for text files get them as labelled text. */
function textPart(text: string): SentPart {
  const [, name, content] = /^The attached file ("[^"]*") \([^)]*\):\n\n([^]*)$/.exec(text) ?? [];
  if (name === undefined || content === undefined) return { kind: 'text', text };
  return { kind: 'document', name: JSON.parse(name) as string, text: content };
}

interface GeminiUserPart {
  readonly text?: string;
  readonly inlineData?: { readonly mimeType: string; readonly data: string };
  readonly functionResponse?: object;
}

function geminiPart({ text, inlineData }: GeminiUserPart): SentPart {
  if (inlineData === undefined) return textPart(text ?? '');
  const { mimeType: mediaType, data } = inlineData;
  return { kind: mediaType === 'application/pdf' ? 'pdf' : 'image', mediaType, data };
}
