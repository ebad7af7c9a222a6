import type { Clock } from '../../../platform/clock/index.js';
import { newId } from '../../../platform/ids/index.js';
import { sampleDocument } from './sample-document.js';
import { FORMATTED, SAMPLES, SHOW_SAMPLE } from './samples.js';
import type { ModelAttachment } from '../../domain/model-attachment.js';
import {
  type JsonObject,
  type ModelEvent,
  type ModelMessage,
  type ModelRuntime,
  type RuntimeRequest,
  type ToolMessage,
  wholeSystem,
} from '../../domain/model-runtime.js';
import { toolInputOf } from '../shared/tool-calls.js';

/** The pause between words, long enough for a person to see the stream. */
const WORD_MS = 15;
const LABEL = '[sandbox model]';
const COMPONENT_TOOL = 'present_';
const QUOTE_CHARACTERS = 200;
const NAMED_TOOLS = 5;
/** The sentence in which the service asks for a list of texts, such as suggestions. */
const LIST_ASKED_FOR = /\bJSON array of exactly (\d{1,2}) strings\b/;

/** The model of demo mode, without key and network. "use <tool>", optionally followed by JSON, makes it call the tool; "show me a card" and the like
 * make it show a response component, if the agent has that switched on. Asked for structured output it writes a sample that fits the schema. The same conversation gets the same reply. */
export class SandboxRuntime implements ModelRuntime {
  constructor(private readonly clock: Clock) {}

  async *stream(request: RuntimeRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    signal.throwIfAborted();
    const requested = requestedCall(request);
    const inputTokens = tokensOf(request);
    // The sandbox has no cache and does not think.
    yield { type: 'usage', usage: { inputTokens, outputTokens: null, cachedInputTokens: 0, thinkingTokens: 0 } };
    const text = requested === undefined ? reply(request) : announcement(requested.name);
    for (const word of text.split(/(?<=\s)/)) {
      await this.clock.sleep(WORD_MS, signal);
      yield { type: 'text', text: word };
    }
    if (requested !== undefined) {
      const call = { id: `sandbox_${newId()}`, ...requested };
      yield { type: 'tool_call_started', id: call.id, name: call.name };
      yield { type: 'tool_call_arguments', id: call.id, delta: JSON.stringify(call.input) };
      yield { type: 'tool_call', call };
    }
    yield {
      type: 'stopped',
      reason: requested === undefined ? 'end' : 'tool_calls',
      usage: { inputTokens, outputTokens: estimate(text), cachedInputTokens: 0, thinkingTokens: 0 },
    };
  }
}

function announcement(tool: string): string {
  return tool.startsWith(COMPONENT_TOOL) ? `${LABEL} Here you are:` : `${LABEL} Calling the tool ${tool}.`;
}

function reply(request: RuntimeRequest): string {
  const list = LIST_ASKED_FOR.exec(request.system)?.[1];
  if (list !== undefined) return listOf(Number(list), request.responseFormat);
  if (request.responseFormat) return JSON.stringify(sampleDocument(request.responseFormat, LABEL));
  const results = resultsSinceLastAnswer(request.messages);
  if (results.length > 0 && results.every(({ toolName, isError }) => !isError && toolName.startsWith(COMPONENT_TOOL))) {
    return `${LABEL} A real model would say something about it.`;
  }
  if (results.length > 0) {
    const outcomes = results.map((result) =>
      result.isError
        ? `The tool ${result.toolName} failed: ${quote(result.output)}`
        : `The tool ${result.toolName} answered: ${quote(result.output)}`,
    );
    return [LABEL, ...outcomes, 'A real model would now work with that.'].join(' ');
  }
  const facts = [`This conversation has ${count(request.messages.length, 'message')} so far`, promptFact(request)];
  const named = request.tools.slice(0, NAMED_TOOLS).map((tool) => tool.name);
  const more = request.tools.length - named.length;
  const tools = [...named, ...(more > 0 ? [`${String(more)} more`] : [])].join(', ');
  const hint = tools === '' ? '' : ` I can use these tools: ${tools}; write "use" and a name to see one called.`;
  return `${LABEL} ${opening(lastUserText(request.messages))}${attached(request.messages)} ${facts.join(', and ')}.${hint}`;
}

function opening(text: string): string {
  if (/\bformatt(ed|ing)\b/i.test(text)) return FORMATTED;
  if (/^\s*(hi|hello|hey|good (morning|afternoon|evening))\b/i.test(text)) return `Hello! You wrote: ${quote(text)}`;
  if (/\b(thanks|thank you)\b/i.test(text)) return `You are welcome. You wrote: ${quote(text)}`;
  if (text.trim().endsWith('?')) {
    return `You asked: ${quote(text)} A real model would answer that; set a provider's API key to talk to one.`;
  }
  return `I received your message: ${quote(text)}`;
}

/** Names the attached files, without reading them. */
function attached(messages: readonly ModelMessage[]): string {
  const files = messages.findLast((message) => message.role === 'user')?.attachments ?? [];
  if (files.length === 0) return '';
  const named = files.map((file) => `${quote(file.name)} (${file.mediaType}, ${sizeOf(file)})`).join(', ');
  return ` It came with ${count(files.length, 'file')}: ${named}; a real model would read what is in there.`;
}

function sizeOf(file: ModelAttachment): string {
  return count(file.kind === 'text' ? Buffer.byteLength(file.text) : Buffer.byteLength(file.data, 'base64'), 'byte');
}

/** A JSON list, or an object with the list as the only property of the format's schema. */
function listOf(count: number, format: RuntimeRequest['responseFormat']): string {
  const list = Array.from({ length: count }, (_, index) => `${LABEL} Suggestion ${index + 1}`);
  const [property] = Object.keys(format?.type === 'json_schema' ? (format.schema['properties'] ?? {}) : {});
  return JSON.stringify(property === undefined ? list : { [property]: list });
}

function promptFact(request: RuntimeRequest): string {
  const { length } = wholeSystem(request);
  return length === 0
    ? 'the agent has no system prompt'
    : `the agent's system prompt has ${count(length, 'character')}`;
}

/** The tool call that the last message asks for, if that is the user's. */
function requestedCall(request: RuntimeRequest): { name: string; input: JsonObject } | undefined {
  const last = request.messages.at(-1);
  if (last?.role !== 'user') return undefined;
  for (const match of last.text.matchAll(/\buse\s+([\w-]+)\s*(\{[\s\S]*\})?/gi)) {
    const tool = request.tools.find((candidate) => candidate.name === match[1]);
    if (tool !== undefined) return { name: tool.name, input: toolInputOf(match[2] ?? '').input };
  }
  return forcedCall(request) ?? requestedSample(last.text, request);
}

function forcedCall({ tools, toolChoice }: RuntimeRequest): { name: string; input: JsonObject } | undefined {
  const name = toolChoice?.type === 'tool' ? toolChoice.name : toolChoice && tools.at(-1)?.name;
  return name === undefined ? undefined : { name, input: {} };
}

function requestedSample(text: string, { tools }: RuntimeRequest): { name: string; input: JsonObject } | undefined {
  const kind = SHOW_SAMPLE.exec(text)?.[1]?.toLowerCase();
  const sample = kind === undefined ? undefined : SAMPLES[kind];
  return sample && tools.some(({ name }) => name === sample.name) ? sample : undefined;
}

function resultsSinceLastAnswer(messages: readonly ModelMessage[]): ToolMessage[] {
  const lastOther = messages.findLastIndex((message) => message.role !== 'tool');
  return messages.slice(lastOther + 1).filter((message) => message.role === 'tool');
}

function lastUserText(messages: readonly ModelMessage[]): string {
  return messages.findLast((message) => message.role === 'user')?.text ?? '';
}

function quote(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  const characters = Array.from(flat);
  return `"${characters.length > QUOTE_CHARACTERS ? `${characters.slice(0, QUOTE_CHARACTERS).join('')}…` : flat}"`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** About four characters a token, as in English text. */
function estimate(text: string): number {
  return Math.ceil(text.length / 4);
}

function tokensOf(request: RuntimeRequest): number {
  const texts = request.messages.map((message) => (message.role === 'tool' ? message.output : message.text));
  return [wholeSystem(request), ...texts].reduce((sum, text) => sum + estimate(text), 0);
}
