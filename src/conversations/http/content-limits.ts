import { ValidationFailed } from '../../platform/errors/index.js';
import { isText } from '../../platform/http/index.js';

/** Of one message, in Unicode code points. */
export const MAX_CONTENT = 200_000;

/** Of one chat completion, AG-UI input or request for suggestions. */
export const MAX_MESSAGES = 1_000;

/** Content parts of one message. */
export const MAX_PARTS = 1_000;

/** Of a caller's own instructions, all of them together: they are one part of the system prompt. In code points. */
export const MAX_INSTRUCTIONS = 200_000;

/** Of ids that a client makes up; a UUID has 36 characters. */
export const MAX_ID = 255;

/** Whether a message may be empty depends on its role, and is checked with that. @throws ValidationFailed */
export function checkContent(text: string, path: string): void {
  if (isText(text, { max: MAX_CONTENT })) return;
  throw new ValidationFailed(`${path} must be a string of 1 to ${MAX_CONTENT} characters`);
}

/** Providers refuse blank text, so a blank message needs an attachment. @throws ValidationFailed */
export function checkSaysSomething(text: string, attachments: readonly unknown[], path: string): void {
  if (text.trim() !== '' || attachments.length > 0) return;
  throw new ValidationFailed(`${path} must not be ${text === '' ? 'empty' : 'blank'}, unless something is attached`);
}

/** @param fields where the instructions stand in the request @throws ValidationFailed */
export function checkInstructions(instructions: string, fields: string): void {
  if (isText(instructions, { max: MAX_INSTRUCTIONS })) return;
  throw new ValidationFailed(`${fields} must have at most ${MAX_INSTRUCTIONS} characters of instructions altogether`);
}
