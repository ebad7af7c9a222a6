import type { Chat } from '../client/chat-state.js';
import { ColorKeeper } from './color-keeper.js';
import { make } from './dom.js';
import { focusedIn, isOfComposition } from './focus.js';
import { FullScreen } from './viewport.js';
import { Launcher } from './launcher.js';
import type { Settings } from './panel.js';
import { PanelSlot } from './panel-slot.js';
import type { TabMemory } from './tab-memory.js';
import { Teaser } from './teaser.js';

export interface FrameOptions {
  readonly chat: Chat;
  readonly memory: TabMemory;
  /** The panel is always open and stands where the element is. */
  readonly isInline: boolean;
  /** The visitor wants to open or to close the panel. */
  readonly onToggle: (isOpen: boolean) => void;
}

export interface FrameSettings extends Settings {
  readonly direction: 'ltr' | 'rtl';
  /** CSS values; null for those of the custom properties. */
  readonly accent: string | null;
  readonly radius: string | null;
  readonly font: string | null;
}

/** All that the element draws: the panel, and for a floating widget its button and its teaser. */
export class Frame {
  readonly element: HTMLElement;
  private readonly options: FrameOptions;
  private readonly panel: PanelSlot;
  private readonly launcher: Launcher;
  private readonly teaser: Teaser;
  private readonly fullScreen: FullScreen;
  private readonly colors: ColorKeeper;
  private readonly parts: readonly HTMLElement[];
  private settings: FrameSettings;
  private isOpen = false;
  private unread = 0;

  constructor(options: FrameOptions, settings: FrameSettings) {
    const { chat, isInline, memory, onToggle } = options;
    this.options = options;
    this.settings = settings;
    const close = isInline ? {} : { onClose: () => onToggle(false) };
    const isSoundOn = (): boolean => this.isSoundOn;
    const sound = {
      get isOn() {
        return isSoundOn();
      },
      toggle: () => this.toggleSound(),
    };
    this.panel = new PanelSlot({ chat, sound, ...close }, settings);
    this.fullScreen = new FullScreen(this.panel.element);
    this.launcher = new Launcher(() => onToggle(!this.isOpen));
    for (const type of ['pointerenter', 'focus', 'touchstart'])
      this.launcher.element.addEventListener(type, () => this.panel.load(), { passive: true });
    this.teaser = new Teaser(memory, () => onToggle(true));
    this.parts = [this.panel.element, ...(isInline ? [] : [this.teaser.element, this.launcher.element])];
    const shell = make('div', { className: 'shell' }, ...this.parts);
    this.colors = new ColorKeeper(shell);
    this.element = make('div', { className: 'frame' }, this.colors.probe, shell);
    if (!isInline) this.closeByEscape(shell);
    this.redraw(settings);
  }

  /** Draws again what differs, in place. */
  redraw(settings: FrameSettings): void {
    const { look, strings, locale, direction, radius, font } = settings;
    this.settings = settings;
    this.panel.redraw(settings);
    this.launcher.redraw(look, strings, locale);
    if (!this.options.isInline) this.teaser.redraw(this.isOpen ? null : look.teaser, strings.teaserClose);
    // Not the shell's: the panel stands at the side that the page's direction decides.
    for (const part of this.parts) part.dir = direction;
    for (const [name, value] of [
      ['--r', radius],
      ['font-family', font],
    ] as const) {
      if (value === null) this.element.style.removeProperty(name);
      else this.element.style.setProperty(name, value);
    }
    this.recolor();
  }

  /** The colours of the page may have changed. */
  recolor(): void {
    if (this.element.isConnected) this.colors.update(this.settings.accent);
  }

  /** @param how `focus`: into the panel; `still`: without animation */
  show(isOpen: boolean, how: 'focus' | 'still' | null): void {
    const { panel, launcher } = this;
    const { isInline } = this.options;
    const hadFocus = panel.element.contains(focusedIn(panel.element));
    this.isOpen = isOpen;
    panel.element.classList.toggle('still', how === 'still');
    panel.element.hidden = !isOpen;
    if (isOpen) {
      this.unread = 0;
      panel.load();
      if (!isInline) this.teaser.end();
      this.recolor();
      panel.toEnd();
    }
    launcher.show(isOpen, this.unread);
    if (!isInline) this.fullScreen.show(isOpen);
    if (how === 'focus' && isOpen) panel.focus();
    if (!isOpen && hadFocus) launcher.element.focus();
  }

  /** A reply has ended: tells a visitor who does not look at it. */
  onReply(): void {
    if (!this.isOpen) this.launcher.show(false, (this.unread += 1));
    if (this.isSoundOn && (!this.isOpen || document.hidden)) this.play();
  }

  destroy(): void {
    this.panel.destroy();
    this.teaser.stop();
    this.fullScreen.destroy();
    this.element.remove();
  }

  private get isSoundOn(): boolean {
    return this.settings.look.hasSound && this.options.memory.get('sound') === 'on';
  }

  private toggleSound(): void {
    const isOn = !this.isSoundOn;
    this.options.memory.set('sound', isOn ? 'on' : null);
    // The visitor hears what it is like, and the browser learns that the visitor wants it.
    if (isOn) this.play();
  }

  private play(): void {
    import('./sound.js')
      .then(({ playReplySound }) => playReplySound())
      .catch(() => {
        // The browser does not play it; the visitor sees the reply.
      });
  }

  private closeByEscape(shell: HTMLElement): void {
    shell.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || isOfComposition(event) || !this.isOpen) return;
      event.stopPropagation();
      this.options.onToggle(false);
    });
  }
}
