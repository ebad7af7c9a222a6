import type { AppToolAnswer } from '../../integrations/index.js';
import { cutTo } from '../domain/text.js';
import { MAX_STRING } from '../limits.js';

/** A handler has not done its part; the message is public. */
export class HandlerFailed extends Error {}

/**
 * What a tool has answered.
 * @throws HandlerFailed where it is an error, whose text is the tool's own, of any length and perhaps none; and where not all
 * of it was understood, which may have been a block
 */
export function textOf({ text, isError, isRepaired }: AppToolAnswer): string {
  if (isError)
    throw new HandlerFailed(text.trim() === '' ? 'The tool answered with an error.' : cutTo(text, MAX_STRING));
  if (isRepaired) throw new HandlerFailed("The tool's answer is not valid MCP.");
  return text;
}
