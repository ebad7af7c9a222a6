import { ICONS, icon, make, setText } from './dom.js';
import type { Look } from './look.js';
import { fill, type Strings } from './strings.js';

/** The button that opens and closes the panel, with the number of unread replies. */
export class Launcher {
  readonly element: HTMLButtonElement;
  private readonly badge = make('span', { className: 'badge', attributes: { 'aria-hidden': 'true' } });
  private readonly label = make('span', { className: 'launcher-label', attributes: { dir: 'auto' } });
  private readonly picture = make('span', { className: 'launcher-icon' });
  private strings: Strings | null = null;
  private look: Look | null = null;
  private locale = 'en';
  private unread = 0;
  private isOpen = false;

  constructor(onClick: () => void) {
    this.element = make('button', {
      className: 'launcher',
      attributes: { type: 'button', 'aria-controls': 'panel' },
      onClick,
    });
    const cross = make('span', { className: 'launcher-close' }, icon(ICONS.close));
    this.element.append(this.picture, this.label, cross, this.badge);
  }

  redraw(look: Look, strings: Strings, locale: string): void {
    const before = this.look?.launcherIcon;
    this.look = look;
    this.strings = strings;
    this.locale = locale;
    if (before !== look.launcherIcon) this.picture.replaceChildren(iconOf(look.launcherIcon));
    this.draw();
  }

  show(isOpen: boolean, unread: number): void {
    this.isOpen = isOpen;
    this.unread = unread;
    this.draw();
  }

  private draw(): void {
    const { strings, look, isOpen, unread } = this;
    if (!strings || !look) return;
    const count = new Intl.NumberFormat(this.locale).format(unread);
    // The name begins with the text on the button, so that it can be said to a speech control.
    const name = isOpen ? strings.close : (look.launcherLabel ?? strings.open);
    const news = unread > 0 ? `, ${fill(strings.unread, { count })}` : '';
    this.element.setAttribute('aria-label', name + news);
    this.element.setAttribute('aria-expanded', String(isOpen));
    this.element.classList.toggle('labelled', look.launcherLabel !== null && !isOpen);
    setText(this.label, look.launcherLabel ?? '');
    setText(this.badge, count);
    this.badge.hidden = unread === 0;
  }
}

function iconOf(url: string | null): Element {
  if (url === null) return icon(ICONS.chat);
  const image = make('img', { attributes: { alt: '', referrerpolicy: 'no-referrer' } });
  image.addEventListener('error', () => image.replaceWith(icon(ICONS.chat)));
  image.src = url;
  return image;
}
