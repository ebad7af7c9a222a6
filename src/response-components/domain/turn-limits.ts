import type { Frequency } from '../../agents/index.js';
import { type ComponentName, componentOfTool, isChoice } from './component-names.js';

/** A tool call of the earlier runs of this turn. */
interface EarlierCall {
  readonly name: string;
  readonly failed: boolean;
}

const MAX_WRONG_CALLS = 2;
export const MAX_COMPONENTS = 10;

const IN_PROSE = 'Do not call the present_ tools again in this reply: write it as plain text instead.';

/** Limits what one turn may show. A turn is all runs from one message of the user to the next. */
export class TurnLimits {
  private wrong = 0;
  private readonly shown: ComponentName[] = [];

  /** @param earlier read at each call, because the list is filled after the run has begun */
  constructor(
    private readonly frequency: Frequency,
    private readonly earlier: readonly EarlierCall[],
  ) {}

  /** @returns for the model: why the turn may not show this component; null if it may */
  refusal(name: ComponentName): string | null {
    if (this.wrongCalls >= MAX_WRONG_CALLS) return `Nothing was shown: too many calls were wrong. ${IN_PROSE}`;
    const shown = [...this.earlierComponents(false), ...this.shown];
    if (isChoice(name) && this.frequency === 'low' && shown.some(isChoice))
      return 'Nothing was shown: the user already has buttons, and may get buttons only once in a reply. End your reply.';
    if (shown.length >= MAX_COMPONENTS)
      return `Nothing was shown: a reply may show at most ${MAX_COMPONENTS} components. ${IN_PROSE}`;
    return null;
  }

  noteShown(name: ComponentName): void {
    this.shown.push(name);
  }

  /** @returns what the model should do next */
  noteWrong(): string {
    this.wrong += 1;
    return this.wrongCalls < MAX_WRONG_CALLS
      ? 'Nothing was shown. Correct this and call the tool once more.'
      : `Nothing was shown. ${IN_PROSE}`;
  }

  /** The reason why an earlier call failed is not stored, so each counts as wrong. */
  private get wrongCalls(): number {
    return this.wrong + this.earlierComponents(true).length;
  }

  private earlierComponents(failed: boolean): ComponentName[] {
    const calls = this.earlier.filter((call) => call.failed === failed);
    return calls.map((call) => componentOfTool(call.name)).filter((name) => name !== undefined);
  }
}
