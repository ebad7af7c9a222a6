import { keepTabIn } from './focus.js';

/**
 * Lays an element over the panel, which cannot be operated meanwhile. Escape calls `onEscape`.
 * @returns takes the element away
 */
export function cover(panel: HTMLElement, element: HTMLElement, onEscape: () => void): () => void {
  const covered = [...panel.children].filter((child) => child instanceof HTMLElement && !child.inert) as HTMLElement[];
  for (const child of covered) child.inert = true;
  panel.append(element);
  element.addEventListener('keydown', (event) => {
    keepTabIn(element, event);
    if (event.key !== 'Escape' || event.isComposing) return;
    // The panel closes at Escape.
    event.stopPropagation();
    onEscape();
  });
  return () => {
    element.remove();
    for (const child of covered) child.inert = false;
  };
}
