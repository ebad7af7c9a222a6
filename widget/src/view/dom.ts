/** Properties of an element as in the DOM, `aria` and `data` attributes, and listeners. */
export interface Making {
  readonly className?: string;
  readonly text?: string;
  readonly attributes?: Readonly<Record<string, string | undefined>>;
  readonly onClick?: () => void;
}

/** Makes an element. Children that are texts become text nodes, never markup. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  { className, text, attributes = {}, onClick }: Making = {},
  ...children: readonly (Node | string | null | undefined | false)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  if (className !== undefined) {
    element.className = className;
    // The page can style this part.
    element.setAttribute('part', className);
  }
  if (text !== undefined) element.textContent = text;
  for (const [attribute, value] of Object.entries(attributes))
    if (value !== undefined) element.setAttribute(attribute, value);
  if (onClick) element.addEventListener('click', onClick);
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

export function button(
  label: string,
  onClick: () => void,
  { className = 'button', ...more }: Making = {},
): HTMLButtonElement {
  return make('button', {
    text: label,
    className,
    onClick,
    ...more,
    attributes: { type: 'button', ...more.attributes },
  });
}

const SVG = 'http://www.w3.org/2000/svg';

/** An icon, hidden from assistive technology: the button around it has a label. */
export function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const shape = document.createElementNS(SVG, 'path');
  shape.setAttribute('d', path);
  svg.append(shape);
  return svg;
}

export function iconButton(label: string, path: string, onClick: () => void, making: Making = {}): HTMLButtonElement {
  const made = button('', onClick, {
    className: 'icon-button',
    ...making,
    attributes: { 'aria-label': label, title: label, ...making.attributes },
  });
  made.append(icon(path));
  return made;
}

/** Sets a text only if it differs, because assistive technology reads every change. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export const ICONS = {
  chat: 'M4 4h16a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H9l-5 4v-4a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2z',
  close: 'M6.4 5 5 6.4 10.6 12 5 17.6 6.4 19 12 13.4 17.6 19 19 17.6 13.4 12 19 6.4 17.6 5 12 10.6z',
  send: 'M3 20.5v-6l9-2.5-9-2.5v-6L22 12z',
  restart: 'M12 5V2L7 6.5 12 11V8a5 5 0 1 1-5 5H4a8 8 0 1 0 8-8z',
  attach:
    'M16.5 6v11a4.5 4.5 0 0 1-9 0V5a3 3 0 0 1 6 0v10.5a1.5 1.5 0 0 1-3 0V6H9v9.5a3 3 0 0 0 6 0V5a4.5 4.5 0 0 0-9 0v12a6 6 0 0 0 12 0V6z',
  up: 'M2 21h4V10H2zm20-10a2 2 0 0 0-2-2h-6.3l1-4.6V4a1.5 1.5 0 0 0-.5-1L13 2 7.6 7.4A2 2 0 0 0 7 8.8V19a2 2 0 0 0 2 2h9a2 2 0 0 0 1.8-1.2l3-7a2 2 0 0 0 .2-.8z',
  down: 'M22 3h-4v11h4zM2 13a2 2 0 0 0 2 2h6.3l-1 4.6v.4a1.5 1.5 0 0 0 .5 1L11 22l5.4-5.4a2 2 0 0 0 .6-1.4V5a2 2 0 0 0-2-2H6a2 2 0 0 0-1.8 1.2l-3 7a2 2 0 0 0-.2.8z',
  latest: 'M12 16.5 5 9.5 6.4 8l5.6 5.6L17.6 8 19 9.5z',
} as const;
