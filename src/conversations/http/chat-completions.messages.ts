import { ValidationFailed } from '../../platform/errors/index.js';
import type { Conversation, Utterance } from '../domain/opening.js';

/**
 * `assistant`: the request names its agent in `assistant_id`, and messages are plain. `model`: it names it in
 * `model`, as clients of the OpenAI API do, and messages may be anything of that API that is text.
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
  readonly text: string;
}

/**
 * The messages of a request as a conversation: instructions, what was said before, what is to be answered.
 * @param messages objects, at least one
 * @throws ValidationFailed naming the message
 */
export function readConversation(messages: readonly Fields[], form: RequestForm): Conversation {
  const entries = messages.map((message, index) => readEntry(message, form, `body/messages/${index}`));
  const last = entries.at(-1);
  if (last?.role !== 'user') {
    throw new ValidationFailed(`body/messages/${entries.length - 1}/role must be user: the last message is answered`);
  }
  return {
    instructions: entries.filter(isInstruction).map(({ text }) => text).join('\n\n'),
    history: entries.slice(0, -1).flatMap(toUtterance),
    text: last.text,
  };
}

function readEntry(message: Fields, form: RequestForm, path: string): Entry {
  const role = ROLES[form].find((name) => name === message['role']);
  if (role === undefined) throw new ValidationFailed(`${path}/role must be one of: ${ROLES[form].join(', ')}`);
  refuseAttachments(message['attachments'], path);
  const text = form === 'assistant' ? plainText(message, path) : anyText(message['content'], `${path}/content`);
  // A reply that stayed empty may be in the history of any client; a question may not.
  if (text === '' && role === 'user') throw new ValidationFailed(`${path}/content must not be empty`);
  return { role, text };
}

/** Of the assistant form: every field as the interface has it. */
function plainText({ content, id }: Fields, path: string): string {
  if (id !== undefined && (typeof id !== 'string' || id === '')) {
    throw new ValidationFailed(`${path}/id must be a string of at least 1 character`);
  }
  if (typeof content !== 'string') throw new ValidationFailed(`${path}/content must be a string`);
  if (content === '') throw new ValidationFailed(`${path}/content must be at least 1 character`);
  return content;
}

/** Text alone, or a list of parts that are text. */
function anyText(content: unknown, path: string): string {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (!Array.isArray(content)) throw new ValidationFailed(`${path} must be a string or an array of content parts`);
  return content.map((part: unknown, index) => partText(part, `${path}/${index}`)).join('\n');
}

function partText(part: unknown, path: string): string {
  const fields = typeof part === 'object' && part !== null ? (part as Fields) : {};
  switch (fields['type']) {
    case 'text':
      if (typeof fields['text'] === 'string') return fields['text'];
      throw new ValidationFailed(`${path}/text must be a string`);
    case 'refusal':
      if (typeof fields['refusal'] === 'string') return fields['refusal'];
      throw new ValidationFailed(`${path}/refusal must be a string`);
    default:
      throw new ValidationFailed(`${path}/type must be text: other content parts are not accepted`);
  }
}

/** Better refused than silently left out of the answer. */
function refuseAttachments(attachments: unknown, path: string): void {
  if (attachments === undefined || (Array.isArray(attachments) && attachments.length === 0)) return;
  throw new ValidationFailed(`${path}/attachments is not accepted here`);
}

function isInstruction({ role, text }: Entry): boolean {
  return (role === 'system' || role === 'developer') && text !== '';
}

function toUtterance({ role, text }: Entry): Utterance[] {
  return (role === 'user' || role === 'assistant') && text !== '' ? [{ role, content: text }] : [];
}
