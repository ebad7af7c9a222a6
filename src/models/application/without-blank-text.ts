import type { ModelAttachment } from '../domain/model-attachment.js';
import type { ModelMessage } from '../domain/model-runtime.js';
import type { ModelRequest } from '../providers/index.js';

const BLANK_MESSAGE = '(blank message)';
const BLANK_RESULT = 'The tool returned nothing.';
const EMPTY_FILE = '(empty file)';

/**
 * The request without blank texts, which providers refuse. Users, customers and tool servers may send them in system prompts,
 * messages, files and tool results.
 */
export function withoutBlankText(request: ModelRequest): ModelRequest {
  const system = isBlank(request.system) ? '' : request.system;
  // Blank texts are rare and conversations may be long, so most requests are passed on uncopied.
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
      if (!attachments?.length) return { ...message, text: BLANK_MESSAGE };
      return { ...message, text: isBlank(text) ? '' : text, attachments: attachments.map(withFileText) };
    }
    case 'assistant':
      return { ...message, text: '' };
    case 'tool':
      // A result with media may have an empty text.
      return { ...message, output: message.media?.length && !message.isError ? '' : BLANK_RESULT };
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
