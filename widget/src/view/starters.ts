import { button, make } from './dom.js';
import type { ViewContext } from './view-context.js';

/** More questions than this hide the greeting on a small screen. */
const MAX_STARTERS = 6;

/** Questions that a visitor may begin with. */
export function startersView({ strings, look, chat }: ViewContext, onStarted: () => void): HTMLElement {
  return make(
    'div',
    { className: 'starters', attributes: { role: 'group', 'aria-label': strings.starters } },
    ...look.starters.slice(0, MAX_STARTERS).map((text) =>
      button(
        text,
        () => {
          void chat.send(text);
          onStarted();
        },
        { className: 'starter', attributes: { dir: 'auto' } },
      ),
    ),
  );
}
