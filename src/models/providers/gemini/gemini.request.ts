import {
  type Content,
  FunctionCallingConfigMode,
  type GenerateContentConfig,
  type GenerateContentParameters,
  type Part,
} from '@google/genai';
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

/** Marks ids that the runtime made for calls without one; requests must not contain them. */
export const LOCAL_ID_PREFIX = 'local_';

/** Google's value for calls whose signature is missing; without it the API refuses the request. */
const NO_SIGNATURE = 'skip_thought_signature_validator';

export function geminiRequest(request: RuntimeRequest, signal: AbortSignal): GenerateContentParameters {
  const functionDeclarations = request.tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    parametersJsonSchema: tool.inputSchema,
  }));
  const { responseFormat: format } = request;
  const systemInstruction = systemWithFormat(request);
  return {
    model: request.model,
    contents: geminiContents(request.messages, request.model),
    config: {
      abortSignal: signal,
      // The engine executes tool calls.
      automaticFunctionCalling: { disable: true },
      ...(systemInstruction === '' ? {} : { systemInstruction }),
      ...(functionDeclarations.length === 0 ? {} : { tools: [{ functionDeclarations }], ...toolChoice(request) }),
      ...(format && { responseMimeType: 'application/json' }),
      ...(format?.type === 'json_schema' && { responseJsonSchema: format.schema }),
      ...(request.showReasoning === true ? { thinkingConfig: { includeThoughts: true } } : {}),
    },
  };
}

/** The API has no setting for calls one at a time. */
function toolChoice({ toolChoice: choice }: RuntimeRequest): Pick<GenerateContentConfig, 'toolConfig'> {
  if (choice === undefined) return {};
  const names = choice.type === 'tool' ? { allowedFunctionNames: [choice.name] } : {};
  return { toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY, ...names } } };
}

function geminiContents(messages: readonly ModelMessage[], model: string): Content[] {
  const contents: Content[] = [];
  /** The results of all calls of one response belong in one message. */
  let results: Part[] | undefined;
  for (const message of messages) {
    if (message.role === 'tool') {
      if (results === undefined) contents.push({ role: 'user', parts: (results = []) });
      const responses = results.filter((part) => part.functionResponse !== undefined).length;
      results.splice(responses, 0, responsePart(message));
      // The API accepts audio in the same message, after all responses.
      results.push(...(message.media ?? []).filter(({ kind }) => kind === 'audio').map(inlinePart));
      continue;
    }
    results = undefined;
    if (message.role === 'user') contents.push({ role: 'user', parts: userParts(message) });
    else {
      const stored = storedList(message, 'gemini', model, 'parts') as Part[] | undefined;
      const parts = stored ?? plainParts(message);
      if (parts.length > 0) contents.push({ role: 'model', parts });
    }
  }
  return contents;
}

/** Media types that the API accepts in a function's response. */
const RESPONSE_MEDIA: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'application/pdf']);

function responsePart({ toolCallId, toolName: name, output, isError, media = [] }: ToolMessage): Part {
  const response = isError ? { error: output } : { output };
  const parts = media.filter(({ mediaType }) => RESPONSE_MEDIA.has(mediaType)).map(inlinePart);
  return { functionResponse: { ...idOf(toolCallId), name, response, ...(parts.length === 0 ? {} : { parts }) } };
}

function inlinePart({ mediaType: mimeType, data }: Pick<ModelMedia, 'mediaType' | 'data'>): {
  readonly inlineData: { mimeType: string; data: string };
} {
  return { inlineData: { mimeType, data } };
}

function userParts({ text, attachments = [] }: UserMessage): Part[] {
  return [...attachments.map(attachedPart), ...(text === '' && attachments.length > 0 ? [] : [{ text }])];
}

function attachedPart(attachment: ModelAttachment): Part {
  switch (attachment.kind) {
    case 'image':
    case 'pdf':
      return inlinePart(attachment);
    case 'text':
      return { text: labelledText(attachment) };
    default:
      return attachment satisfies never;
  }
}

function plainParts(message: AssistantMessage): Part[] {
  const parts: Part[] = message.text === '' ? [] : [{ text: message.text }];
  message.toolCalls.forEach(({ id, name, input }, index) => {
    const functionCall = { ...idOf(id), name, args: { ...input } };
    // Only the first of parallel calls has a signature.
    parts.push(index === 0 ? { functionCall, thoughtSignature: NO_SIGNATURE } : { functionCall });
  });
  return parts;
}

function idOf(id: string): { id?: string } {
  return id.startsWith(LOCAL_ID_PREFIX) ? {} : { id };
}
