import type { AppToolAnswer } from '../../integrations/index.js';
import { cutTo } from '../domain/text.js';
import { MAX_STRING } from '../limits.js';

/** The message is public. */
export class HandlerFailed extends Error {}

/**
 * The text of a tool's result.
 * @throws HandlerFailed for an error result, and for one of which a part is not valid MCP: the missing part may have been a
 *   block
 */
export function textOf({ text, isError, isRepaired }: AppToolAnswer): string {
  if (isError)
    throw new HandlerFailed(text.trim() === '' ? 'The tool answered with an error.' : cutTo(text, MAX_STRING));
  if (isRepaired) throw new HandlerFailed("The tool's answer is not valid MCP.");
  return text;
}
