import type { ModelAttachment } from '../domain/model-attachment.js';
import type { ModelMessage } from '../domain/model-runtime.js';
import type { ModelRequest } from '../providers/index.js';

const BLANK_MESSAGE = '(blank message)';
const BLANK_RESULT = 'The tool returned nothing.';
const EMPTY_FILE = '(empty file)';

/** Providers refuse blank texts, which users, customers and tool servers may send in prompts, messages, files and tool results. */
export function withoutBlankText(request: ModelRequest): ModelRequest {
  const { system, conversationSystem = '' } = request;
  const prompt = {
    system: isBlank(system) ? '' : system,
    conversationSystem: isBlank(conversationSystem) ? '' : conversationSystem,
  };
  return { ...request, ...prompt, messages: request.messages.map(withText) };
}

function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

function withText(message: ModelMessage): ModelMessage {
  switch (message.role) {
    case 'user': {
      const { attachments = [], text } = message;
      if (attachments.length === 0) return isBlank(text) ? { ...message, text: BLANK_MESSAGE } : message;
      return { ...message, text: isBlank(text) ? '' : text, attachments: attachments.map(withFileText) };
    }
    case 'assistant':
      return isBlank(message.text) ? { ...message, text: '' } : message;
    case 'tool':
      if (!isBlank(message.output)) return message;
      // A result with media may have an empty text.
      return { ...message, output: message.media?.length && !message.isError ? '' : BLANK_RESULT };
    default:
      return message satisfies never;
  }
}

function withFileText(file: ModelAttachment): ModelAttachment {
  return file.kind === 'text' && isBlank(file.text) ? { ...file, text: EMPTY_FILE } : file;
}
