import { cutTo } from '../domain/text.js';
import { MAX_STRING } from '../limits.js';

/** A handler has not done its part; the message is public. */
export class HandlerFailed extends Error {}

/** What a tool says of its failure is its own text, of any length and perhaps none. */
export function toolFailed(text: string): HandlerFailed {
  return new HandlerFailed(text.trim() === '' ? 'The tool answered with an error.' : cutTo(text, MAX_STRING));
}
