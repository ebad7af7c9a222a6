import type { ModelToolCall } from '../../models/index.js';

/** The result of a call whose arguments are not a JSON object; undefined for any other call. */
export function malformedCallOutput({ malformedInput }: ModelToolCall): string | undefined {
  if (malformedInput === undefined) return undefined;
  return `This call was not made: its arguments are not a JSON object. ${quoted(malformedInput)} ${MEND}`;
}

/** The note for the model after an answer that ended in an unreadable call. */
export function unreadableCallNote(written: string): string {
  return [
    'Your last answer ended in a tool call that could not be read, so no tool was called.',
    quoted(written),
    MEND,
  ].join(' ');
}

export const UNREADABLE_CALL = 'The model wrote a tool call that cannot be read.';

const MEND = 'Call the tool again with one JSON object that fits its schema, or continue without it.';

function quoted(written: string): string {
  return written === '' ? 'Its text is not known.' : `What was written: ${written}`;
}
