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
  chat: 'M4.5 3h15A3.5 3.5 0 0 1 23 6.5v8a3.5 3.5 0 0 1-3.5 3.5H11l-5 4v-4H4.5A3.5 3.5 0 0 1 1 14.5v-8A3.5 3.5 0 0 1 4.5 3zM7.5 12a1.4 1.4 0 1 0 0-2.8 1.4 1.4 0 0 0 0 2.8zm4.5 0a1.4 1.4 0 1 0 0-2.8 1.4 1.4 0 0 0 0 2.8zm4.5 0a1.4 1.4 0 1 0 0-2.8 1.4 1.4 0 0 0 0 2.8z',
  close: 'M6.4 5 5 6.4 10.6 12 5 17.6 6.4 19 12 13.4 17.6 19 19 17.6 13.4 12 19 6.4 17.6 5 12 10.6z',
  send: 'M3 20.5v-6l9-2.5-9-2.5v-6L22 12z',
  restart: 'M12 5V2L7 6.5 12 11V8a5 5 0 1 1-5 5H4a8 8 0 1 0 8-8z',
  attach:
    'M16.5 6v11a4.5 4.5 0 0 1-9 0V5a3 3 0 0 1 6 0v10.5a1.5 1.5 0 0 1-3 0V6H9v9.5a3 3 0 0 0 6 0V5a4.5 4.5 0 0 0-9 0v12a6 6 0 0 0 12 0V6z',
  up: 'M2 21h4V10H2zm20-10a2 2 0 0 0-2-2h-6.3l1-4.6V4a1.5 1.5 0 0 0-.5-1L13 2 7.6 7.4A2 2 0 0 0 7 8.8V19a2 2 0 0 0 2 2h9a2 2 0 0 0 1.8-1.2l3-7a2 2 0 0 0 .2-.8z',
  down: 'M22 3h-4v11h4zM2 13a2 2 0 0 0 2 2h6.3l-1 4.6v.4a1.5 1.5 0 0 0 .5 1L11 22l5.4-5.4a2 2 0 0 0 .6-1.4V5a2 2 0 0 0-2-2H6a2 2 0 0 0-1.8 1.2l-3 7a2 2 0 0 0-.2.8z',
  latest: 'M12 16.5 5 9.5 6.4 8l5.6 5.6L17.6 8 19 9.5z',
  chevron: 'M9.5 5 8 6.4l5.6 5.6L8 17.6 9.5 19l7-7z',
  back: 'M20 11H7.8l5.6-5.6L12 4l-8 8 8 8 1.4-1.4L7.8 13H20z',
  check: 'M9 16.2 4.8 12l-1.4 1.4L9 19 21 7l-1.4-1.4z',
  copy: 'M15 1H4a2 2 0 0 0-2 2v13h2V3h11zm4 4H8a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h11a2 2 0 0 0 2-2V7a2 2 0 0 0-2-2zm0 16H8V7h11z',
  file: 'M14 2H6a2 2 0 0 0-2 2v16a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2V8zM6 20V4h7v5h5v11z',
  image:
    'M19 3H5a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h14a2 2 0 0 0 2-2V5a2 2 0 0 0-2-2zm0 16H5V5h14zm-5-6.9-3 3.9-2.1-2.6L6 17h12zM8.5 10a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z',
  retry: 'M17.7 6.3A8 8 0 1 0 19.7 14h-2.1A6 6 0 1 1 12 6c1.7 0 3.1.7 4.2 1.8L13 11h7V4z',
  stop: 'M8 6h8a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H8a2 2 0 0 1-2-2V8a2 2 0 0 1 2-2z',
  download: 'M13 3h-2v9.2L7.9 9.1 6.5 10.5 12 16l5.5-5.5-1.4-1.4-3.1 3.1zM5 19v2h14v-2z',
  dots: 'M12 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4zm0 2a2 2 0 1 0 0 4 2 2 0 0 0 0-4zm0 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  edit: 'M3 17.2V21h3.8L17.8 9.9l-3.7-3.7zM6 19H5v-1l9.1-9 1 1zM20.7 5.6l-2.3-2.3a1 1 0 0 0-1.4 0l-1.8 1.8 3.7 3.7 1.8-1.8a1 1 0 0 0 0-1.4z',
  history: 'M13 3a9 9 0 0 0-9 9H1l4 4 4-4H6a7 7 0 1 1 2.1 5l-1.5 1.4A9 9 0 1 0 13 3zm-1 5v5l4.3 2.5.7-1.2-3.5-2.1V8z',
  sound:
    'M3 9v6h4l5 5V4L7 9zm7-.2v6.4L7.8 13H5v-2h2.8zM16.5 12A4.5 4.5 0 0 0 14 8v8a4.5 4.5 0 0 0 2.5-4zM14 3.2v2.1a7 7 0 0 1 0 13.4v2.1a9 9 0 0 0 0-17.6z',
  mute: 'M3 9v6h4l5 5V4L7 9zm7-.2v6.4L7.8 13H5v-2h2.8zM21.5 9.9l-1.4-1.4-2.1 2.1-2.1-2.1-1.4 1.4 2.1 2.1-2.1 2.1 1.4 1.4 2.1-2.1 2.1 2.1 1.4-1.4-2.1-2.1z',
  warning: 'M12 2 1 21h22zm0 4 7.5 13h-15zm-1 4v5h2v-5zm0 6v2h2v-2z',
  tool: 'M22.7 19 13.6 9.9a6.1 6.1 0 0 0-1.5-6.5A6.2 6.2 0 0 0 5 2.3L9.3 6.6l-3 3L2 5.3A6.2 6.2 0 0 0 3.4 12a6.1 6.1 0 0 0 6.5 1.4l9.1 9.1a1 1 0 0 0 1.4 0l2.3-2.3a.9.9 0 0 0 0-1.2z',
} as const;
