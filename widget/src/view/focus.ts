const FOCUSABLE = 'a[href],button,input,textarea,select,summary,[tabindex="0"]';

/** The elements that Tab reaches, in their order. */
function stopsIn(area: HTMLElement): HTMLElement[] {
  return [...area.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
    (element) =>
      element.checkVisibility({ visibilityProperty: true }) &&
      !element.matches(':disabled') &&
      element.closest('[inert]') === null,
  );
}

/** The focused element of the tree that `node` is in. */
export function focusedIn(node: Node): Element | null {
  const root = node.getRootNode();
  return root instanceof ShadowRoot || root instanceof Document ? root.activeElement : null;
}

/** Whether a key belongs to an input method. Safari ends a composition before the key that ends it, whose code is 229 then. */
export function isOfComposition(event: { readonly isComposing: boolean; readonly keyCode: number }): boolean {
  return event.isComposing || event.keyCode === 229;
}

/** Keeps Tab inside of `area`: from its last element to its first, and from anywhere else into it. */
export function keepTabIn(area: HTMLElement, event: KeyboardEvent): void {
  if (event.key !== 'Tab') return;
  const stops = stopsIn(area);
  const edge = event.shiftKey ? stops[0] : stops.at(-1);
  const focused = focusedIn(area);
  if (focused !== edge && focused !== null && area.contains(focused)) return;
  event.preventDefault();
  (event.shiftKey ? stops.at(-1) : stops[0])?.focus();
}

/** Puts the focus into the same place after `redraw` has replaced elements of `area`. */
export function keepFocus(area: HTMLElement, redraw: () => void): void {
  const focused = focusedIn(area);
  const at = focused && area.contains(focused) ? [...area.querySelectorAll(FOCUSABLE)].indexOf(focused) : -1;
  redraw();
  if (at === -1 || focused?.isConnected) return;
  const places = [...area.querySelectorAll<HTMLElement>(FOCUSABLE)];
  (places[at] ?? places.at(-1))?.focus({ preventScroll: true });
}
