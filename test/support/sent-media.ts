type Body = Readonly<Record<string, unknown>>;

export interface SentMedium {
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

/** A tool's result as a model was sent it, with what the tool showed. */
export interface SentToolResult {
  readonly id: string;
  readonly text: string;
  readonly media: readonly SentMedium[];
}

/** The results in a request to any of the providers, in order. */
export function sentResults(body: Body): SentToolResult[] {
  if (body['contents'] !== undefined) return geminiResults(body);
  return body['input'] === undefined ? anthropicResults(body) : openaiResults(body);
}

interface AnthropicBlock {
  readonly type: string;
  readonly tool_use_id: string;
  readonly text?: string;
  readonly content: string | AnthropicBlock[];
  readonly source: { readonly media_type: string; readonly data: string };
}

function anthropicResults({ messages }: Body): SentToolResult[] {
  return (messages as { content: string | AnthropicBlock[] }[])
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .filter(({ type }) => type === 'tool_result')
    .map(({ tool_use_id: id, content }) => {
      if (typeof content === 'string') return { id, text: content, media: [] };
      const shown = content.filter(({ type }) => type !== 'text');
      return {
        id,
        text: content.map(({ text }) => text ?? '').join(''),
        media: shown.map(({ source }) => ({ mediaType: source.media_type, data: source.data })),
      };
    });
}

interface OpenaiPart {
  readonly text?: string;
  readonly image_url?: string;
  readonly file_data?: string;
}

function openaiResults({ input }: Body): SentToolResult[] {
  return (input as { type?: string; call_id: string; output: string | OpenaiPart[] }[])
    .filter(({ type }) => type === 'function_call_output')
    .map(({ call_id: id, output }) => {
      if (typeof output === 'string') return { id, text: output, media: [] };
      const urls = output.map(({ image_url: image, file_data: file }) => image ?? file);
      return {
        id,
        text: output.map(({ text }) => text ?? '').join(''),
        media: urls.flatMap((url) => {
          const [, mediaType = '', data = ''] = /^data:([^;]*);base64,(.*)$/.exec(url ?? '') ?? [];
          return data === '' ? [] : [{ mediaType, data }];
        }),
      };
    });
}

interface GeminiPart {
  readonly functionResponse?: {
    readonly id: string;
    readonly response: { readonly output?: string; readonly error?: string };
    readonly parts?: readonly { readonly inlineData: { readonly mimeType: string; readonly data: string } }[];
  };
}

function geminiResults({ contents }: Body): SentToolResult[] {
  return (contents as { parts: GeminiPart[] }[])
    .flatMap(({ parts }) => parts)
    .flatMap(({ functionResponse: result }) => (result === undefined ? [] : [result]))
    .map(({ id, response, parts = [] }) => ({
      id,
      text: response.output ?? response.error ?? '',
      media: parts.map(({ inlineData: { mimeType: mediaType, data } }) => ({ mediaType, data })),
    }));
}
