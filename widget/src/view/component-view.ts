import type { WireComponent } from '../client/wire.js';
import { choicesView } from './choices-view.js';
import { type ComponentProps, type ImageProps, type LinkProps, readProps } from './component-props.js';
import { make } from './dom.js';
import { imageView } from './image-view.js';
import { linkView } from './markdown-link.js';
import { MarkdownView } from './markdown-view.js';
import type { ViewContext } from './view-context.js';

/** A component that the agent shows in its reply. */
export interface ComponentView {
  readonly element: HTMLElement;
  /** What a screen reader says of it at the end of the reply; null for the text in the element. */
  readonly spoken: string | null;
  /**
   * @param isOpen whether the visitor can answer now
   * @param answer the visitor's next message; null if there is none
   */
  readonly update: (isOpen: boolean, answer: string | null) => void;
}

/** @param isRepeated the text of the message already contains the component as text */
export function componentView(
  { component, props, fallback }: WireComponent,
  context: ViewContext,
  isRepeated: boolean,
): ComponentView {
  const read = readProps(component, props);
  const unchanging = (element: HTMLElement): ComponentView => ({ element, spoken: null, update: () => undefined });
  switch (read?.kind) {
    case 'choices':
      return choicesView(read, context);
    case 'card':
      return unchanging(cardView(read, context));
    case 'list':
      return unchanging(listView(read, context));
    case undefined: {
      const prose = new MarkdownView(context, { className: 'markdown fallback' });
      if (!isRepeated) prose.update(fallback, true);
      return unchanging(prose.element);
    }
    default:
      return read satisfies never;
  }
}

function cardView(card: Extract<ComponentProps, { kind: 'card' }>, context: ViewContext): HTMLElement {
  const fields = card.fields.map(({ label, value }) =>
    make(
      'div',
      { className: 'field' },
      make('dt', { text: label, attributes: { dir: 'auto' } }),
      make('dd', { text: value, attributes: { dir: 'auto' } }),
    ),
  );
  return make(
    'article',
    { className: 'component card', attributes: { 'aria-label': card.title, dir: 'auto' } },
    picture(card.image, context),
    make('p', { className: 'card-title', text: card.title }),
    card.subtitle !== undefined && make('p', { className: 'card-subtitle', text: card.subtitle }),
    card.text !== undefined && make('p', { className: 'card-text', text: card.text }),
    fields.length > 0 && make('dl', { className: 'fields' }, ...fields),
    linksView(card.links),
  );
}

function listView({ title, items }: Extract<ComponentProps, { kind: 'list' }>, context: ViewContext): HTMLElement {
  const entries = items.map((item) =>
    make(
      'li',
      { className: item.image ? 'item pictured' : 'item', attributes: { dir: 'auto' } },
      picture(item.image, context),
      make('p', { className: 'card-title', text: item.title }),
      item.text !== undefined && make('p', { className: 'card-text', text: item.text }),
      linksView(item.links),
    ),
  );
  return make(
    'div',
    { className: 'component list', attributes: { dir: 'auto' } },
    title !== undefined && make('p', { className: 'question', text: title }),
    make('ul', {}, ...entries),
  );
}

function picture(image: ImageProps | undefined, context: ViewContext): HTMLElement | null {
  return image ? make('div', { className: 'card-picture' }, imageView(image.url, image.alt, context)) : null;
}

function linksView(links: readonly LinkProps[]): HTMLElement | null {
  return links.length === 0
    ? null
    : make('p', { className: 'links' }, ...links.map(({ label, url }) => linkView(url, [label])));
}
