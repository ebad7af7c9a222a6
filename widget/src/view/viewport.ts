import { keepTabIn } from './focus.js';

/** Screens on which the panel covers the page; `styles.ts` has the same condition. */
export const FULL_SCREEN = '(max-width:480px),(max-height:480px) and (pointer:coarse)';

/** The panels that cover the page; the last one is on top. */
const covering: HTMLElement[] = [];
/** The page's own value, while a panel covers it. */
let pageOverflow = '';

/** While the panel covers a small screen: fits it above the on-screen keyboard, keeps the page still and the focus inside. */
export class FullScreen {
  private readonly screen = matchMedia(FULL_SCREEN);
  private end: AbortController | null = null;
  private isShown = false;

  constructor(private readonly panel: HTMLElement) {
    this.screen.addEventListener('change', this.update);
  }

  show(isShown: boolean): void {
    this.isShown = isShown;
    this.update();
  }

  destroy(): void {
    this.screen.removeEventListener('change', this.update);
    this.show(false);
  }

  private readonly update = (): void => {
    const isFull = this.isShown && this.screen.matches;
    if (isFull === (this.end !== null)) return;
    if (isFull) this.begin();
    else this.end?.abort();
  };

  private begin(): void {
    const { panel } = this;
    const end = new AbortController();
    const { signal } = end;
    this.end = end;
    holdPage(panel);
    panel.setAttribute('aria-modal', 'true');
    document.addEventListener('keydown', (event) => covering.at(-1) === panel && keepTabIn(panel, event), {
      capture: true,
      signal,
    });
    for (const type of ['resize', 'scroll'])
      visualViewport?.addEventListener(type, () => fit(panel), { passive: true, signal });
    fit(panel);
    signal.addEventListener('abort', () => {
      this.end = null;
      releasePage(panel);
      panel.removeAttribute('aria-modal');
      for (const name of ['--height', '--top']) panel.style.removeProperty(name);
    });
  }
}

function holdPage(panel: HTMLElement): void {
  const page = document.documentElement.style;
  if (covering.length === 0) pageOverflow = page.overflow;
  covering.push(panel);
  page.setProperty('overflow', 'hidden');
}

function releasePage(panel: HTMLElement): void {
  covering.splice(covering.indexOf(panel), 1);
  if (covering.length === 0) document.documentElement.style.setProperty('overflow', pageOverflow);
}

/** The layout of a page does not change when the on-screen keyboard opens; only the visual viewport shrinks. */
function fit({ style }: HTMLElement): void {
  // A visitor who zooms in sees a part of the panel, which must not shrink to it.
  const view = visualViewport && visualViewport.scale <= 1.01 ? visualViewport : null;
  if (view) {
    style.setProperty('--height', `${String(view.height)}px`);
    style.setProperty('--top', `${String(view.offsetTop)}px`);
  } else for (const name of ['--height', '--top']) style.removeProperty(name);
}
