import { ICONS, icon, iconButton, make } from './dom.js';
import { focusedIn } from './focus.js';

export interface MenuEntry {
  readonly label: string;
  readonly icon: string;
  readonly onClick: () => void;
}

/** A button with a menu, operated as in the pattern "menu button" of ARIA. */
export class Menu {
  readonly element = make('div', { className: 'menu' });
  private readonly button: HTMLButtonElement;
  private readonly list = make('div', { className: 'menu-list', attributes: { role: 'menu' } });
  private readonly entries: () => readonly MenuEntry[];

  /** @param entries asked each time the menu opens */
  constructor(label: string, entries: () => readonly MenuEntry[]) {
    this.entries = entries;
    this.button = iconButton(label, ICONS.dots, () => this.show(!this.isOpen), {
      attributes: { 'aria-haspopup': 'menu', 'aria-expanded': 'false' },
    });
    this.list.setAttribute('aria-label', label);
    this.list.hidden = true;
    this.element.append(this.button, this.list);
    this.element.addEventListener('keydown', (event) => this.onKey(event));
    this.element.addEventListener('focusout', ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node) || !this.element.contains(relatedTarget)) this.show(false);
    });
  }

  private get isOpen(): boolean {
    return !this.list.hidden;
  }

  focus(): void {
    this.button.focus();
  }

  rename(label: string): void {
    for (const name of ['aria-label', 'title']) this.button.setAttribute(name, label);
    this.list.setAttribute('aria-label', label);
  }

  private show(isOpen: boolean): void {
    if (this.isOpen === isOpen) return;
    this.list.hidden = !isOpen;
    this.button.setAttribute('aria-expanded', String(isOpen));
    if (!isOpen) return;
    this.list.replaceChildren(...this.entries().map((entry) => this.itemOf(entry)));
    this.go(0);
  }

  private itemOf({ label, icon: path, onClick }: MenuEntry): HTMLElement {
    const item = make('button', {
      className: 'menu-item',
      attributes: { type: 'button', role: 'menuitem', tabindex: '-1' },
      onClick: () => {
        // The action may move the focus on.
        this.button.focus();
        this.show(false);
        onClick();
      },
    });
    item.append(icon(path), label);
    return item;
  }

  private onKey(event: KeyboardEvent): void {
    if (!this.isOpen) {
      if (event.key === 'ArrowDown') this.show(true);
      else return;
    } else {
      const { children } = this.list;
      const at = [...children].findIndex((item) => item === focusedIn(this.list));
      const last = children.length - 1;
      if (event.key === 'ArrowDown') this.go(at === last ? 0 : at + 1);
      else if (event.key === 'ArrowUp') this.go(at <= 0 ? last : at - 1);
      else if (event.key === 'Home') this.go(0);
      else if (event.key === 'End') this.go(last);
      else if (event.key === 'Escape') {
        this.button.focus();
        this.show(false);
      } else return;
    }
    event.preventDefault();
    // The panel closes at Escape.
    event.stopPropagation();
  }

  private go(index: number): void {
    const item = this.list.children.item(index);
    if (item instanceof HTMLElement) item.focus();
  }
}
