import { MAX_TOOL_OUTPUT, MAX_TOOL_OUTPUTS } from './limits.js';

/**
 * What one run keeps of its tools' outputs. Each is in memory, in the message, in what the model is sent with every
 * further call and in later runs: a tool that answers without end must not become all of these.
 */
export class ToolOutputs {
  private left = MAX_TOOL_OUTPUTS;

  /** The output, or its beginning with a note for the model where it is too long. */
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

/** Half of a surrogate pair is no text that could be stored. */
function endOfCharacter(text: string, end: number): number {
  return /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end;
}
