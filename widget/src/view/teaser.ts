import { button, ICONS, iconButton, make, setText } from './dom.js';
import type { TabMemory } from './tab-memory.js';

/** So that the page comes first. */
const DELAY_MS = 4000;

/** A sentence beside the launcher that invites the visitor once per tab. No live region: it interrupts nobody. */
export class Teaser {
  readonly element: HTMLElement;
  private readonly text: HTMLButtonElement;
  private readonly dismiss: HTMLButtonElement;
  private readonly memory: TabMemory;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(memory: TabMemory, onOpen: () => void) {
    this.memory = memory;
    this.text = button('', onOpen, { className: 'teaser-text', attributes: { dir: 'auto' } });
    this.dismiss = iconButton('', ICONS.close, () => this.end(), { className: 'teaser-close' });
    this.element = make('div', { className: 'teaser' }, this.text, this.dismiss);
    this.element.hidden = true;
  }

  /** @param text null for no teaser */
  redraw(text: string | null, closeLabel: string): void {
    setText(this.text, text ?? '');
    for (const name of ['aria-label', 'title']) this.dismiss.setAttribute(name, closeLabel);
    if (text === null || this.memory.get('teaser') !== null) this.stop();
    else this.timer ??= setTimeout(() => (this.element.hidden = false), DELAY_MS);
  }

  /** The visitor has opened the chat or dismissed the teaser. */
  end(): void {
    this.memory.set('teaser', 'seen');
    this.stop();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.element.hidden = true;
  }
}
