import type { ToolActivity } from '../client/chat-state.js';
import { ArgumentTable, clipped } from './argument-table.js';
import { icon, ICONS, make, setText } from './dom.js';
import { MESSAGE_ICONS } from './message-icons.js';
import { fill, type Strings, toolLabel } from './strings.js';

const LABELS = {
  running: 'toolRunning',
  completed: 'toolDone',
  failed: 'toolFailed',
  awaiting_approval: 'toolAwaiting',
  approved: 'toolApproved',
  denied: 'toolDenied',
} as const satisfies Readonly<Record<ToolActivity['status'], keyof Strings>>;

/** Null: a spinner, which the style draws. */
const SIGNS: Readonly<Record<ToolActivity['status'], string | null>> = {
  running: null,
  completed: ICONS.check,
  failed: ICONS.close,
  awaiting_approval: MESSAGE_ICONS.clock,
  approved: ICONS.check,
  denied: ICONS.close,
};

/** What became of a tool call, in words. */
export function toolText({ name, status }: Pick<ToolActivity, 'name' | 'status'>, strings: Strings): string {
  return fill(strings[LABELS[status]], { tool: toolLabel(name) });
}

/** One tool call: a row that opens to its input and output. */
export class ToolView {
  readonly element: HTMLDetailsElement;
  private readonly strings: Strings;
  private readonly sign = make('span', { className: 'tool-sign' });
  private readonly label = make('span', { className: 'tool-label', attributes: { dir: 'auto' } });
  private readonly body = make('div', { className: 'tool-body' });
  private tool: ToolActivity | null = null;
  private drawn: ToolActivity | null = null;

  constructor(strings: Strings) {
    this.strings = strings;
    const arrow = make('span', { className: 'tool-arrow' }, icon(ICONS.latest));
    const summary = make('summary', { className: 'tool-summary' }, this.sign, this.label, arrow);
    this.element = make('details', { className: 'tool' }, summary, this.body);
    this.element.addEventListener('toggle', () => this.drawBody());
  }

  update(tool: ToolActivity): void {
    const { status } = tool;
    if (tool.status !== this.tool?.status) {
      const path = SIGNS[status];
      this.sign.replaceChildren(...(path === null ? [] : [icon(path)]));
      this.element.dataset['status'] = status;
    }
    this.tool = tool;
    setText(this.label, toolText(tool, this.strings));
    this.drawBody();
  }

  /** Draws only what is visible: inputs and outputs may be long, and few visitors open them. */
  private drawBody(): void {
    const { tool, drawn, strings } = this;
    if (!this.element.open || !tool || (drawn?.input === tool.input && drawn.output === tool.output)) return;
    this.drawn = tool;
    const section = (title: string, text: string): HTMLElement =>
      make('div', {}, make('p', { className: 'tool-title', text: title }), valueView(text, strings));
    this.body.replaceChildren(
      section(strings.toolInput, tool.input),
      ...(tool.output === null ? [] : [section(strings.toolOutput, tool.output)]),
    );
  }
}

/** A JSON object or list as a table, every other text as it is. */
function valueView(text: string, strings: Strings): HTMLElement {
  const value = parsed(text);
  if (typeof value === 'object' && value !== null) return new ArgumentTable(value, strings).element;
  return clipped(text.trim() === '' ? strings.empty : text, strings);
}

/** Undefined for a text that is no JSON, such as one that is still being received. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
