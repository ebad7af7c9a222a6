import type { ToolActivity } from '../client/chat-state.js';
import { make, setText } from './dom.js';
import { fill, type Strings, toolLabel } from './strings.js';

const LABELS = {
  running: 'toolRunning',
  completed: 'toolDone',
  failed: 'toolFailed',
  awaiting_approval: 'toolAwaiting',
  denied: 'toolDenied',
} as const satisfies Readonly<Record<ToolActivity['status'], keyof Strings>>;

/** One tool call, collapsed at first. */
export class ToolView {
  readonly element: HTMLDetailsElement;
  private readonly summary = make('summary');
  private readonly input = make('pre');
  private readonly output = make('pre');
  private readonly outputPart: HTMLElement;
  private readonly strings: Strings;

  constructor(strings: Strings) {
    this.strings = strings;
    this.outputPart = make('div', {}, make('p', { text: strings.toolOutput }), this.output);
    const body = make(
      'div',
      { className: 'tool-body' },
      make('p', { text: strings.toolInput }),
      this.input,
      this.outputPart,
    );
    this.element = make('details', { className: 'tool' }, this.summary, body);
    for (const [pre, label] of [
      [this.input, strings.toolInput],
      [this.output, strings.toolOutput],
    ] as const) {
      pre.tabIndex = 0;
      pre.setAttribute('role', 'group');
      pre.setAttribute('aria-label', label);
    }
  }

  update({ name, input, output, status }: ToolActivity): void {
    this.element.dataset['status'] = status;
    setText(this.summary, fill(this.strings[LABELS[status]], { tool: toolLabel(name) }));
    setText(this.input, indented(input));
    setText(this.output, output ?? '');
    this.outputPart.hidden = output === null;
  }
}

/** Indented JSON; an incomplete or invalid text stays unchanged. */
export function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
