import type { AttachmentReference } from '../../files/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import { isText } from '../../platform/http/index.js';
import type { Conversation, InputMessage } from '../domain/new-thread.js';
import { AttachmentCount, readAttachments } from './attachments.dto.js';
import { checkContent, checkInstructions, checkSaysSomething, MAX_ID } from './content-limits.js';
import { type Content, combineParts, type Part } from './content-parts.js';

/**
 * `assistant`: the request names its agent in `assistant_id`, and messages are plain text. `model`: the request names
 * its agent in `model`, as clients of the OpenAI API do, and messages may have that API's content parts: text, images,
 * files.
 */
export type RequestForm = 'assistant' | 'model';

type Fields = Readonly<Record<string, unknown>>;
type Role = 'user' | 'assistant' | 'system' | 'developer';

const ROLES: Readonly<Record<RequestForm, readonly Role[]>> = {
  assistant: ['user', 'assistant'],
  model: ['user', 'assistant', 'system', 'developer'],
};

interface Entry {
  readonly role: Role;
  readonly clientId: string | undefined;
  readonly text: string;
  readonly attachments: readonly AttachmentReference[];
}

/** @throws ValidationFailed naming the message */
export function readConversation(messages: readonly Fields[], form: RequestForm): Conversation {
  const attached = new AttachmentCount();
  const entries = messages.map((message, index) => {
    const entry = readEntry(message, form, `body/messages/${index}`);
    attached.add(entry.attachments);
    return entry;
  });
  const last = entries.at(-1);
  if (last?.role !== 'user') {
    throw new ValidationFailed(`body/messages/${entries.length - 1}/role must be user: the last message is answered`);
  }
  const instructions = entries
    .filter(isInstruction)
    .map(({ text }) => text)
    .join('\n\n');
  checkInstructions(instructions, 'body/messages');
  return {
    instructions,
    history: entries.slice(0, -1).flatMap(toInputMessage),
    text: last.text,
    clientId: last.clientId,
    attachments: last.attachments,
  };
}

function readEntry(message: Fields, form: RequestForm, path: string): Entry {
  const role = ROLES[form].find((name) => name === message['role']);
  if (role === undefined) throw new ValidationFailed(`${path}/role must be one of: ${ROLES[form].join(', ')}`);
  const { text, attachments: parts } =
    form === 'assistant' ? plainContent(message, path) : anyContent(message['content'], `${path}/content`);
  checkContent(text, `${path}/content`);
  const attachments = [...parts, ...readAttachments(message['attachments'], path)];
  // Refused, since the model would not get them.
  if (attachments.length > 0 && role !== 'user')
    throw new ValidationFailed(`${path} may have attachments only as a user’s`);
  // A client's history may have an empty reply, but no empty question.
  if (role === 'user') checkSaysSomething(text, attachments, `${path}/content`);
  return { role, clientId: isClientId(message['id']) ? message['id'] : undefined, text, attachments };
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

function toInputMessage({ role, clientId, text, attachments }: Entry): InputMessage[] {
  if (role !== 'user' && role !== 'assistant') return [];
  if (role === 'assistant') return text === '' ? [] : [{ role, content: text }];
  return [{ role, clientId, content: text, ...(attachments.length > 0 && { attachments }) }];
}
