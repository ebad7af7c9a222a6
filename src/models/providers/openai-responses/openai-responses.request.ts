import type OpenAI from 'openai';
import { labelledText, type ModelAttachment, type ModelMedia } from '../../domain/model-attachment.js';
import type {
  AssistantMessage,
  ModelMessage,
  RuntimeRequest,
  ToolMessage,
  UserMessage,
} from '../../domain/model-runtime.js';
import { systemWithFormat } from '../shared/response-format.js';
import { storedList } from '../shared/tool-calls.js';
import type { OpenAiOptions } from './openai-responses.settings.js';

type Item = OpenAI.Responses.ResponseInputItem;
type Part = OpenAI.Responses.ResponseInputContent;
type ResultPart = OpenAI.Responses.ResponseFunctionCallOutputItem;
type Body = Omit<OpenAI.Responses.ResponseCreateParamsStreaming, 'stream'>;

export function openaiRequest(request: RuntimeRequest<OpenAiOptions>): Body {
  const { reasoningEffort: effort, verbosity } = request.options;
  const reasoning = {
    ...(effort === null ? {} : { effort }),
    ...(request.showReasoning === true ? ({ summary: 'auto' } as const) : {}),
  };
  const text = {
    ...(verbosity === null ? {} : { verbosity }),
    ...(request.responseFormat && { format: { ...request.responseFormat } }),
  };
  // The API refuses the mode for JSON objects unless the prompt contains the word JSON.
  const instructions = systemWithFormat(request);
  return {
    model: request.model,
    store: false,
    include: ['reasoning.encrypted_content'],
    input: openaiInput(request.messages, request.model),
    ...(instructions === '' ? {} : { instructions }),
    ...(Object.keys(reasoning).length === 0 ? {} : { reasoning }),
    ...(Object.keys(text).length === 0 ? {} : { text }),
    ...(request.tools.length === 0 ? {} : { tools: openaiTools(request.tools), ...toolChoice(request) }),
  };
}

function toolChoice({
  toolChoice: choice,
  oneCallAtATime = false,
}: RuntimeRequest): Pick<Body, 'tool_choice' | 'parallel_tool_calls'> {
  return {
    ...(choice && { tool_choice: choice.type === 'tool' ? { type: 'function', name: choice.name } : 'required' }),
    ...(oneCallAtATime ? { parallel_tool_calls: false } : {}),
  };
}

function openaiTools(tools: RuntimeRequest['tools']): OpenAI.Responses.FunctionTool[] {
  return tools.map((tool) => ({
    type: 'function',
    name: tool.name,
    description: tool.description,
    parameters: tool.inputSchema,
    // Strict mode supports only a part of JSON Schema, and these schemas come from tool servers and customers.
    strict: false,
  }));
}

function openaiInput(messages: readonly ModelMessage[], model: string): Item[] {
  return messages.flatMap((message): Item[] => {
    switch (message.role) {
      case 'user':
        return [{ role: 'user', content: userContent(message) }];
      case 'assistant':
        return (storedList(message, 'openai-responses', model, 'items') as Item[] | undefined) ?? plainItems(message);
      case 'tool':
        return [{ type: 'function_call_output', call_id: message.toolCallId, output: resultOutput(message) }];
      default:
        return message satisfies never;
    }
  });
}

function resultOutput({ output, isError, media = [] }: ToolMessage): string | ResultPart[] {
  // The API has no flag for a failed call.
  const text = isError ? `Error: ${output}` : output;
  const shown = media.flatMap(shownPart);
  if (shown.length === 0) return text;
  return [...(text === '' ? [] : [{ type: 'input_text', text } as const]), ...shown];
}

/** The API has no part for audio in a result. */
function shownPart(file: ModelMedia): ResultPart[] {
  switch (file.kind) {
    case 'image':
    case 'pdf':
      return [filePart(file)];
    case 'audio':
      return [];
    default:
      return file satisfies never;
  }
}

function userContent({ text, attachments = [] }: UserMessage): string | Part[] {
  if (attachments.length === 0) return text;
  return [...attachments.map(attachedPart), ...(text === '' ? [] : [{ type: 'input_text', text } as const])];
}

function attachedPart(attachment: ModelAttachment): Part {
  return attachment.kind === 'text' ? { type: 'input_text', text: labelledText(attachment) } : filePart(attachment);
}

function filePart(
  file: Exclude<ModelAttachment, { kind: 'text' }>,
): OpenAI.Responses.ResponseInputImage | OpenAI.Responses.ResponseInputFile {
  switch (file.kind) {
    case 'image':
      return { type: 'input_image', detail: 'auto', image_url: dataUrl(file) };
    case 'pdf':
      return { type: 'input_file', filename: pdfName(file.name), file_data: dataUrl(file) };
    default:
      return file satisfies never;
  }
}

/** The API also checks the extension. */
function pdfName(name: string): string {
  return /\.pdf$/i.test(name) ? name : `${name}.pdf`;
}

function dataUrl({ mediaType, data }: { readonly mediaType: string; readonly data: string }): string {
  return `data:${mediaType};base64,${data}`;
}

function plainItems(message: AssistantMessage): Item[] {
  const items: Item[] = message.text === '' ? [] : [{ role: 'assistant', content: message.text }];
  for (const { id, name, input } of message.toolCalls) {
    items.push({ type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) });
  }
  return items;
}
