import { ValidationFailed } from '../../platform/errors/index.js';
import { textRule } from '../../platform/http/index.js';

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

const isContent = textRule({ max: MAX_CONTENT });
const areInstructions = textRule({ max: MAX_INSTRUCTIONS });

/** Whether a message may be empty depends on its role, and is checked with that. @throws ValidationFailed */
export function checkContent(text: string, path: string): void {
  if (isContent(text) === undefined) return;
  throw new ValidationFailed(`${path} must be a string of 1 to ${MAX_CONTENT} characters`);
}

/** @param fields where the instructions stand in the request @throws ValidationFailed */
export function checkInstructions(instructions: string, fields: string): void {
  if (areInstructions(instructions) === undefined) return;
  throw new ValidationFailed(`${fields} must have at most ${MAX_INSTRUCTIONS} characters of instructions altogether`);
}
