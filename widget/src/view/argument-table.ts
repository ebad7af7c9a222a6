import { argumentRows, type ArgumentRow } from './argument-rows.js';
import { button, make } from './dom.js';
import type { Strings } from './strings.js';
import { visibleText } from './visible-text.js';

/** Longer texts are clipped. In UTF-16 code units. */
const CLIPPED_AT = 200;
/** Number of rows that are drawn at once: drawing a long table in one task would stop the page. */
const SLICE = 200;
const MAX_INDENT = 4;

/** The arguments of a tool, or another JSON value, as a table for people. One button shows all that is too long at first. */
export class ArgumentTable {
  readonly element: HTMLElement;
  private readonly onWhole: () => void;
  private readonly table: HTMLElement;
  private readonly body = make('tbody');
  private readonly rows: Iterator<ArgumentRow>;
  /** Not drawn yet; null if all rows are. */
  private next: ArgumentRow | null;
  private readonly clips: { readonly shown: HTMLElement; readonly text: string }[] = [];
  private more: HTMLButtonElement | null = null;
  private isOpened = false;

  /** @param onWhole called when the visitor has asked for all that was hidden, and sees it */
  constructor(value: unknown, strings: Strings, onWhole: () => void = () => undefined) {
    this.onWhole = onWhole;
    this.rows = argumentRows(value, strings);
    this.table = make('table', { className: 'arguments' }, this.body);
    this.next = this.take();
    this.drawSlice();
    const isHiding = this.next !== null || this.clips.length > 0;
    if (isHiding) this.more = button(strings.showAll, () => this.open(), { className: 'link' });
    this.element = make('div', {}, this.table, this.more);
  }

  /** Nothing is hidden. */
  get isWhole(): boolean {
    return this.more === null;
  }

  /** Focuses the button that shows all. */
  focusMore(): void {
    this.more?.focus();
  }

  private open(): void {
    if (this.isOpened) return;
    this.isOpened = true;
    for (const { shown, text } of this.clips) shown.textContent = text;
    this.drawRest();
  }

  private drawRest(): void {
    this.drawSlice();
    if (this.next) {
      setTimeout(() => this.drawRest());
      return;
    }
    // Removing the button would drop the focus of the keyboard.
    this.table.tabIndex = -1;
    if (this.more?.matches(':focus') === true) this.table.focus({ preventScroll: true });
    this.more?.remove();
    this.more = null;
    this.onWhole();
  }

  private drawSlice(): void {
    for (let count = 0; this.next && count < SLICE; count += 1) {
      this.body.append(this.rowView(this.next));
      this.next = this.take();
    }
  }

  private take(): ArgumentRow | null {
    const next = this.rows.next();
    return next.done === true ? null : next.value;
  }

  private rowView({ name, value, depth }: ArgumentRow): HTMLElement {
    const row = make('tr', { className: `depth-${String(Math.min(depth, MAX_INDENT))}` });
    if (name !== null) {
      const scope = value === null ? 'rowgroup' : 'row';
      const span = value === null ? { colspan: '2' } : {};
      // The cell keeps the direction of the page, and with it its place and indentation.
      row.append(make('th', { attributes: { scope, ...span } }, this.textView(make('bdi'), name)));
    }
    if (value !== null) {
      const text = this.textView(valueElement(), value);
      row.append(make('td', { attributes: name === null ? { colspan: '2' } : {} }, text));
    }
    return row;
  }

  private textView(shown: HTMLElement, text: string): HTMLElement {
    const start = this.isOpened ? text : startOf(text);
    shown.textContent = start;
    if (start !== text) this.clips.push({ shown, text });
    return shown;
  }
}

/** A text that is not interpreted, whole on request. */
export function clipped(written: string, { showAll }: Pick<Strings, 'showAll'>): HTMLElement {
  const text = visibleText(written);
  const shown = valueElement();
  shown.textContent = startOf(text);
  if (shown.textContent === text) return shown;
  const more = button(
    showAll,
    () => {
      shown.textContent = text;
      // Removing the button would drop the focus of the keyboard.
      shown.tabIndex = -1;
      shown.focus();
      more.remove();
    },
    { className: 'link' },
  );
  return make('div', {}, shown, ' ', more);
}

function valueElement(): HTMLElement {
  return make('span', { className: 'value', attributes: { dir: 'auto' } });
}

/** A long text up to the cut, which must not leave half of a surrogate pair. */
function startOf(text: string): string {
  if (text.length <= CLIPPED_AT * 1.25) return text;
  return `${text.slice(0, CLIPPED_AT).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
