import type { AttachmentReference } from '../../files/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { isText } from '../../platform/http/index.js';
import { QuotedJsonLimits } from '../../platform/json/index.js';
import { isJsonObject, type JsonObject } from '../../models/index.js';
import type { CompleteChatCommand } from '../application/complete-chat.js';
import type { Conversation, InputMessage, SentCall } from '../domain/new-thread.js';
import { CLIENT_TOOL_NAME } from './client-tools.dto.js';
import { AttachmentCount, readAttachments } from './attachments.dto.js';
import {
  checkContent,
  checkInstructions,
  checkSaysSomething,
  MAX_ID,
  MAX_PARTS,
  toolOutput,
} from './content-limits.js';
import { type Content, combineParts, type Part } from './content-parts.js';

/**
 * `assistant`: the request names its agent in `assistant_id`, and messages are plain text. `model`: the request names
 * its agent in `model`, as clients of the OpenAI API do, and messages may have that API's content parts: text, images,
 * files.
 */
export type RequestForm = 'assistant' | 'model';

type Fields = Readonly<Record<string, unknown>>;
type Role = 'user' | 'assistant' | 'tool' | 'system' | 'developer';

const ROLES: Readonly<Record<RequestForm, readonly Role[]>> = {
  assistant: ['user', 'assistant', 'tool'],
  model: ['user', 'assistant', 'tool', 'system', 'developer'],
};

interface Entry {
  readonly role: Role;
  readonly clientId: string | undefined;
  readonly text: string;
  readonly attachments: readonly AttachmentReference[];
  /** Of an assistant's message. */
  readonly toolCalls: readonly SentCall[];
  /** Of a tool's message: the call that it answers. */
  readonly toolCallId: string | undefined;
}

export type ReadConversation = Pick<CompleteChatCommand, 'conversation' | 'instructions' | 'results'>;

/** @throws ValidationFailed naming the message */
export function readConversation(messages: readonly Fields[], form: RequestForm): ReadConversation {
  const attached = new AttachmentCount();
  const argumentLimits = new QuotedJsonLimits();
  const entries = messages.map((message, index) => {
    const entry = readEntry(message, form, `body/messages/${index}`, argumentLimits);
    attached.add(entry.attachments);
    return entry;
  });
  const last = entries.at(-1);
  if (last?.role !== 'user' && last?.role !== 'tool') {
    throw new ValidationFailed(
      `body/messages/${entries.length - 1}/role must be user or tool: the last message is answered`,
    );
  }
  const instructions = entries
    .filter(isInstruction)
    .map(({ text }) => text)
    .join('\n\n');
  checkInstructions(instructions, 'body/messages');
  if (last.role === 'tool') {
    // Results of a waiting run need not have their calls in the request, so the history is read only for a new thread.
    const conversation = (): Conversation => ({ instructions, history: toHistory(entries), text: null });
    return { conversation, instructions, results: resultsAtEnd(entries) };
  }
  const { text, clientId, attachments } = last;
  const conversation = { instructions, history: toHistory(entries.slice(0, -1)), text, clientId, attachments };
  return { conversation: () => conversation, instructions, results: [] };
}

function resultsAtEnd(entries: readonly Entry[]): ReadConversation['results'] {
  const from = entries.findLastIndex(({ role }) => role !== 'tool') + 1;
  return entries.slice(from).map(({ text: output, toolCallId = '' }, index) => {
    const path = `body/messages/${from + index}`;
    return {
      refersTo: { toolCallId },
      answer: { type: 'result', output, isError: false },
      at: { reference: `${path}/tool_call_id ${toolCallId}`, answer: path },
    };
  });
}

function readEntry(message: Fields, form: RequestForm, path: string, limits: QuotedJsonLimits): Entry {
  const role = ROLES[form].find((name) => name === message['role']);
  if (role === undefined) throw new ValidationFailed(`${path}/role must be one of: ${ROLES[form].join(', ')}`);
  const toolCalls = role === 'assistant' ? readCalls(message['tool_calls'], `${path}/tool_calls`, limits) : [];
  const isPlain = form === 'assistant' && toolCalls.length === 0 && role !== 'tool';
  const { text, attachments: parts } = isPlain
    ? plainContent(message, path)
    : anyContent(message['content'], `${path}/content`);
  if (role === 'tool') toolOutput(text, `${path}/content`);
  else checkContent(text, `${path}/content`);
  const attachments = [...parts, ...readAttachments(message['attachments'], path)];
  // Refused, since the model would not get them.
  if (attachments.length > 0 && role !== 'user')
    throw new ValidationFailed(`${path} may have attachments only as a user’s`);
  // A client's history may have an empty reply, but no empty question.
  if (role === 'user') checkSaysSomething(text, attachments, `${path}/content`);
  return {
    ...{ role, text, attachments, toolCalls },
    clientId: isClientId(message['id']) ? message['id'] : undefined,
    toolCallId: role === 'tool' ? idIn(message, 'tool_call_id', path) : undefined,
  };
}

function readCalls(calls: unknown, path: string, limits: QuotedJsonLimits): SentCall[] {
  if (calls === undefined || calls === null) return [];
  if (!Array.isArray(calls) || calls.length > MAX_PARTS) {
    throw new ValidationFailed(`${path} must be an array of at most ${MAX_PARTS} calls`);
  }
  return calls.map((call: unknown, index) => {
    const at = `${path}/${index}`;
    const fields = typeof call === 'object' && call !== null ? (call as Fields) : {};
    const called = fieldsIn(fields, 'function', at);
    const name = textIn(called, 'name', `${at}/function`);
    if (!CLIENT_TOOL_NAME.test(name)) {
      throw new ValidationFailed(`${at}/function/name must be 1 to 64 of A-Z a-z 0-9 _ -`);
    }
    const json = textIn(called, 'arguments', `${at}/function`);
    limits.check(json, `${at}/function/arguments`);
    return { id: idIn(fields, 'id', at), name, input: argumentsOf(json) };
  });
}

/** Models write arguments that are no JSON object; providers accept only objects. */
function argumentsOf(json: string): JsonObject {
  try {
    const input: unknown = JSON.parse(json);
    return isJsonObject(input) ? input : {};
  } catch {
    return {};
  }
}

function idIn(fields: Fields, name: string, path: string): string {
  const id = fields[name];
  if (isText(id, { min: 1, max: MAX_ID })) return id;
  throw new ValidationFailed(`${path}/${name} must be a string of 1 to ${MAX_ID} characters`);
}

/** The OpenAI API has no field `id`, so its clients may send any value; an invalid one is not stored. */
function isClientId(id: unknown): id is string {
  return isText(id, { min: 1, max: MAX_ID });
}

function plainContent({ content, id }: Fields, path: string): Content {
  if (id !== undefined && !isClientId(id)) {
    throw new ValidationFailed(`${path}/id must be a string of 1 to ${MAX_ID} characters`);
  }
  if (typeof content !== 'string') throw new ValidationFailed(`${path}/content must be a string`);
  if (content === '') throw new ValidationFailed(`${path}/content must be at least 1 character`);
  return { text: content, attachments: [] };
}

function anyContent(content: unknown, path: string): Content {
  if (typeof content === 'string') return { text: content, attachments: [] };
  if (content === undefined || content === null) return { text: '', attachments: [] };
  if (!Array.isArray(content)) throw new ValidationFailed(`${path} must be a string or an array of content parts`);
  return combineParts<unknown>(content, path, readPart);
}

function readPart(part: unknown, path: string): Part {
  const fields = typeof part === 'object' && part !== null ? (part as Fields) : {};
  switch (fields['type']) {
    case 'text':
      return { text: textIn(fields, 'text', path) };
    case 'refusal':
      return { text: textIn(fields, 'refusal', path) };
    case 'image_url':
      return { file: { url: textIn(fieldsIn(fields, 'image_url', path), 'url', `${path}/image_url`) } };
    case 'file':
      return { file: fileIn(fieldsIn(fields, 'file', path), `${path}/file`) };
    default:
      throw new ValidationFailed(`${path}/type must be text, image_url or file: other content parts are not accepted`);
  }
}

/** Clients send a data URL, or only its base64. */
function fileIn(file: Fields, path: string): { url: string; name: string | undefined } {
  if (file['file_data'] === undefined)
    throw new ValidationFailed(`${path}/file_data is required: files are sent whole`);
  const data = textIn(file, 'file_data', path);
  const name = file['filename'] === undefined ? undefined : textIn(file, 'filename', path);
  return { url: /^data:/i.test(data) ? data : `data:;base64,${data}`, name };
}

function textIn(fields: Fields, name: string, path: string): string {
  const value = fields[name];
  if (typeof value === 'string') return value;
  throw new ValidationFailed(`${path}/${name} must be a string`);
}

function fieldsIn(fields: Fields, name: string, path: string): Fields {
  const value = fields[name];
  if (typeof value === 'object' && value !== null) return value as Fields;
  throw new ValidationFailed(`${path}/${name} must be an object`);
}

function isInstruction({ role, text }: Entry): boolean {
  return (role === 'system' || role === 'developer') && text !== '';
}

/** Puts the results of tools into the message with the call. @throws ValidationFailed for a result without a call */
function toHistory(entries: readonly Entry[]): InputMessage[] {
  const outputs = new Map<SentCall, string>();
  let open: SentCall[] = [];
  if (entries.at(-1)?.role === 'tool' && !entries.some(({ role }) => role === 'user')) {
    throw new ValidationFailed('body/messages must have a message of the role user before the calls that it answers');
  }
  for (const [index, { role, text, toolCalls, toolCallId }] of entries.entries()) {
    if (role === 'assistant') open = [...toolCalls];
    if (role === 'user') open = [];
    if (role !== 'tool') continue;
    const at = open.findIndex(({ id }) => id === toolCallId);
    const [call] = at < 0 ? [] : open.splice(at, 1);
    if (!call) {
      const field = `body/messages/${index}/tool_call_id`;
      throw new ValidationFailed(`${field} must be the id of a call of the assistant's message before it`);
    }
    outputs.set(call, text);
  }
  return entries.flatMap((entry) => toInputMessage(entry, outputs));
}

function toInputMessage(
  { role, clientId, text, attachments, toolCalls }: Entry,
  outputs: ReadonlyMap<SentCall, string>,
): InputMessage[] {
  if (role === 'assistant') {
    if (text === '' && toolCalls.length === 0) return [];
    const calls = toolCalls.map((call) => ({ ...call, output: outputs.get(call) }));
    return [{ role, content: text, ...(calls.length > 0 && { toolCalls: calls }) }];
  }
  if (role !== 'user') return [];
  return [{ role, clientId, content: text, ...(attachments.length > 0 && { attachments }) }];
}
