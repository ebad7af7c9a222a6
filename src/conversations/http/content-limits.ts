import { ValidationFailed } from '../../platform/errors/index.js';
import { isText } from '../../platform/http/index.js';
import { MAX_TOOL_OUTPUT } from '../engine/limits.js';

/** Code points of one message. */
export const MAX_CONTENT = 200_000;

/** Messages of one chat completion, AG-UI input or request for suggestions. */
export const MAX_MESSAGES = 1_000;

export const MAX_PARTS = 1_000;

/** Code points of all instructions of a caller together. */
export const MAX_INSTRUCTIONS = 200_000;

export const MAX_ID = 255;

/** Checks the length only: whether a message may be empty depends on its role. @throws ValidationFailed */
export function checkContent(text: string, path: string): void {
  if (isText(text, { max: MAX_CONTENT })) return;
  throw new ValidationFailed(`${path} must be a string of 1 to ${MAX_CONTENT} characters`);
}

/** Checks the result of a caller's tool. @throws ValidationFailed */
export function toolOutput(output: string, path: string): string {
  if (isText(output, { max: MAX_TOOL_OUTPUT })) return output;
  throw new ValidationFailed(`${path} must have at most ${MAX_TOOL_OUTPUT} characters`);
}

/** Providers refuse blank text, so a blank message needs an attachment. @throws ValidationFailed */
export function checkSaysSomething(text: string, attachments: readonly unknown[], path: string): void {
  if (text.trim() !== '' || attachments.length > 0) return;
  throw new ValidationFailed(`${path} must not be ${text === '' ? 'empty' : 'blank'}, unless something is attached`);
}

/** @param fields the fields of the request that have the instructions @throws ValidationFailed */
export function checkInstructions(instructions: string, fields: string): void {
  if (isText(instructions, { max: MAX_INSTRUCTIONS })) return;
  throw new ValidationFailed(`${fields} must have at most ${MAX_INSTRUCTIONS} characters of instructions altogether`);
}

/** Characters of a response format's schema as JSON. Contract, section 15. */
export const MAX_FORMAT_SCHEMA = 100_000;
export const MAX_FORMAT_DESCRIPTION = 10_000;
