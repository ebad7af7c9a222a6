import { ICONS, iconButton, make, setText } from './dom.js';
import type { Look } from './look.js';
import { Menu, type MenuEntry } from './menu.js';
import type { Strings } from './strings.js';

/** Who the visitor talks to, and what can be done with the conversation. */
export class Header {
  readonly element: HTMLElement;
  readonly menu: Menu;
  private readonly avatar = make('span', { className: 'header-avatar', attributes: { 'aria-hidden': 'true' } });
  private readonly name = make('h2', { className: 'heading', attributes: { id: 'heading', dir: 'auto' } });
  private readonly subtitle = make('p', { className: 'subtitle', attributes: { dir: 'auto' } });
  private readonly close: HTMLButtonElement | undefined;
  private picture: string | null | undefined;

  /** @param onClose absent if the panel cannot be closed */
  constructor(strings: Strings, entries: () => readonly MenuEntry[], onClose: (() => void) | undefined) {
    this.menu = new Menu(strings.menu, entries);
    this.close = onClose && iconButton(strings.close, ICONS.close, onClose);
    const who = make('div', { className: 'who' }, this.name, this.subtitle);
    this.element = make('div', { className: 'header' }, this.avatar, who, this.menu.element, this.close);
  }

  redraw(look: Look, strings: Strings): void {
    setText(this.name, look.name);
    setText(this.subtitle, look.subtitle ?? '');
    this.subtitle.hidden = look.subtitle === null;
    this.menu.rename(strings.menu);
    for (const name of ['aria-label', 'title']) this.close?.setAttribute(name, strings.close);
    if (look.avatar === null) this.avatar.replaceChildren([...look.name.trim()][0]?.toLocaleUpperCase() ?? '');
    else if (look.avatar !== this.picture) {
      const attributes = { src: look.avatar, alt: '', referrerpolicy: 'no-referrer' };
      this.avatar.replaceChildren(make('img', { attributes }));
    }
    this.picture = look.avatar;
  }
}
