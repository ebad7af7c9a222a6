import { button, make } from './dom.js';
import type { Panel, PanelOptions, Settings } from './panel.js';

/**
 * The place of the panel. Its code is loaded when the visitor is about to open the chat, so that a page whose visitors do not chat loads
 * little more than a button.
 */
export class PanelSlot {
  readonly element: HTMLElement;
  private readonly options: PanelOptions;
  private settings: Settings;
  private panel: Panel | null = null;
  private isLoading = false;
  private isDestroyed = false;

  constructor(options: PanelOptions, settings: Settings) {
    this.options = options;
    this.settings = settings;
    this.element = make('section', {
      className: 'panel',
      attributes: { tabindex: '-1', ...(options.onClose ? { role: 'dialog', id: 'panel' } : {}) },
    });
    this.element.hidden = true;
    this.label();
  }

  /** May be called at any time, and again after a failure. */
  load(): void {
    if (this.panel || this.isLoading) return;
    this.isLoading = true;
    this.show(make('span', { className: 'spinner' }));
    import('./panel.js').then(
      ({ Panel: Loaded }) => {
        this.isLoading = false;
        if (this.isDestroyed) return;
        const hadFocus = this.element.matches(':focus');
        this.element.classList.remove('empty');
        this.element.replaceChildren();
        this.panel = new Loaded(this.element, this.options, this.settings);
        this.panel.toEnd();
        if (hadFocus) this.panel.focus();
      },
      () => {
        this.isLoading = false;
        this.fail();
      },
    );
  }

  redraw(settings: Settings): void {
    this.settings = settings;
    this.label();
    this.panel?.redraw(settings);
  }

  /** Until the panel is there, the focus waits in its place. */
  focus(): void {
    (this.panel ?? this.element).focus();
  }

  toEnd(): void {
    this.panel?.toEnd();
  }

  destroy(): void {
    this.isDestroyed = true;
    this.panel?.destroy();
  }

  private label(): void {
    this.element.setAttribute('aria-label', this.settings.look.name);
  }

  private show(...content: readonly HTMLElement[]): void {
    this.element.classList.add('empty');
    this.element.replaceChildren(...content);
  }

  private fail(): void {
    const { strings } = this.settings;
    const { onClose } = this.options;
    this.show(
      make('p', { text: strings.failedNetwork, attributes: { role: 'alert' } }),
      button(strings.tryAgain, () => {
        // The button is about to go; the panel takes the focus from this place.
        this.focus();
        this.load();
      }),
      ...(onClose ? [button(strings.close, onClose)] : []),
    );
  }
}
