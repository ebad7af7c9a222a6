import type { ModelAttachment } from '../domain/model-attachment.js';
import type { ModelMessage } from '../domain/model-runtime.js';
import type { ModelRequest } from '../providers/index.js';

const SAID_NOTHING = '(blank message)';
const RETURNED_NOTHING = 'The tool returned nothing.';
const EMPTY_FILE = '(empty file)';

/**
 * The request without text of white space only, which providers refuse anywhere in it. Users, customers and tool servers may
 * send such text in system prompts, messages, files and results of tools.
 */
export function withoutBlankText(request: ModelRequest): ModelRequest {
  const system = isBlank(request.system) ? '' : request.system;
  // Fast path: hardly any request has blank text, and a long conversation has many messages.
  const messages = request.messages.some(hasBlankText) ? request.messages.map(withText) : request.messages;
  return system === request.system && messages === request.messages ? request : { ...request, system, messages };
}

function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

function hasBlankText(message: ModelMessage): boolean {
  switch (message.role) {
    case 'user':
      return isBlank(message.text) || (message.attachments ?? []).some(isBlankFile);
    case 'assistant':
      return isBlank(message.text);
    case 'tool':
      return isBlank(message.output);
    default:
      return message satisfies never;
  }
}

function withText(message: ModelMessage): ModelMessage {
  if (!hasBlankText(message)) return message;
  switch (message.role) {
    case 'user': {
      const { attachments, text } = message;
      if (!attachments?.length) return { ...message, text: SAID_NOTHING };
      return { ...message, text: isBlank(text) ? '' : text, attachments: attachments.map(withFileText) };
    }
    case 'assistant':
      return { ...message, text: '' };
    case 'tool':
      // Beside media the text may be empty.
      return { ...message, output: message.media?.length && !message.isError ? '' : RETURNED_NOTHING };
    default:
      return message satisfies never;
  }
}

function isBlankFile(file: ModelAttachment): boolean {
  return file.kind === 'text' && isBlank(file.text);
}

function withFileText(file: ModelAttachment): ModelAttachment {
  return file.kind === 'text' && isBlank(file.text) ? { ...file, text: EMPTY_FILE } : file;
}
