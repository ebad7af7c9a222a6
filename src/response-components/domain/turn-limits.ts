import type { Frequency } from '../../agents/index.js';
import { type ComponentName, componentOfTool, isChoice } from './component-names.js';

/** A tool call of the runs that this one goes on with. */
interface EarlierCall {
  readonly name: string;
  readonly failed: boolean;
}

export const MAX_WRONG_CALLS = 2;
export const MAX_COMPONENTS = 10;

const IN_PROSE = 'Do not call the present_ tools again in this reply: say it as plain text instead.';

/** How much one turn may show: a turn is all runs from one message of the user to the next. */
export class TurnLimits {
  private wrong = 0;
  private choices = 0;
  private shown = 0;

  /** @param earlier read at each call, since it is not known when the run begins */
  constructor(
    private readonly frequency: Frequency,
    private readonly earlier: readonly EarlierCall[],
  ) {}

  /** @returns why this component may not be shown any more, for the model; null where it may */
  refusal(name: ComponentName): string | null {
    if (this.wrongCalls >= MAX_WRONG_CALLS) return `Nothing was shown: too many calls were wrong. ${IN_PROSE}`;
    if (isChoice(name) && this.frequency === 'low' && this.choicesShown > 0) {
      return 'Nothing was shown: the user has buttons to choose from already, and may be given them only once in a reply. End your reply.';
    }
    if (this.componentsShown >= MAX_COMPONENTS)
      return `Nothing was shown: a reply may show at most ${MAX_COMPONENTS} components. ${IN_PROSE}`;
    return null;
  }

  noteShown(name: ComponentName): void {
    this.shown += 1;
    if (isChoice(name)) this.choices += 1;
  }

  /** @returns what the model is to do now */
  noteWrong(): string {
    this.wrong += 1;
    return this.wrongCalls < MAX_WRONG_CALLS
      ? 'Nothing was shown. Call the tool once more with this corrected.'
      : `Nothing was shown. ${IN_PROSE}`;
  }

  /** Of a call in an earlier run it is known that it failed, and not why: it counts as wrong. */
  private get wrongCalls(): number {
    return this.wrong + this.earlier.filter(({ name, failed }) => failed && componentOfTool(name) !== undefined).length;
  }

  private get componentsShown(): number {
    return (
      this.shown + this.earlier.filter(({ name, failed }) => !failed && componentOfTool(name) !== undefined).length
    );
  }

  private get choicesShown(): number {
    const before = this.earlier.filter(({ name, failed }) => !failed && isChoiceTool(name));
    return this.choices + before.length;
  }
}

function isChoiceTool(toolName: string): boolean {
  const name = componentOfTool(toolName);
  return name !== undefined && isChoice(name);
}
