import { MAX_TOOL_OUTPUT, MAX_TOOL_OUTPUTS } from './limits.js';

/**
 * Limits the outputs of a run's tools. An output is held in memory, stored in the message, and sent with every further
 * request of this and later runs, so it must be bounded.
 */
export class ToolOutputBudget {
  private left = MAX_TOOL_OUTPUTS;

  /** The output; when it is too long, its beginning with a note for the model. */
  take(output: string): string {
    const kept = shortened(output, Math.min(MAX_TOOL_OUTPUT, this.left));
    this.left = Math.max(0, this.left - kept.length);
    return kept;
  }
}

function shortened(output: string, room: number): string {
  if (output.length <= room) return output;
  const kept = output.slice(0, endOfCharacter(output, room));
  return `${kept}${kept === '' ? '' : '\n\n'}[The output was cut: ${kept.length} of its ${output.length} characters are kept.]`;
}

/** Half of a surrogate pair cannot be stored. */
function endOfCharacter(text: string, end: number): number {
  return /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end;
}
