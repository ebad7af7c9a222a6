import type { WireComponent } from '../client/wire.js';
import { type Choice, type ComponentProps, type ImageProps, type LinkProps, readProps } from './component-props.js';
import { make } from './dom.js';
import { imageView } from './image-view.js';
import { linkView, MarkdownView } from './markdown-view.js';
import type { ViewContext } from './view-context.js';

/** A component that the agent shows after its text. */
export interface ComponentView {
  readonly element: HTMLElement;
  /** @param chosen the visitor's answer; null if there is none */
  readonly update: (isOpen: boolean, chosen: string | null) => void;
}

/** @param isRepeated the text of the message already contains the component as text */
export function componentView(
  { component, props, fallback }: WireComponent,
  context: ViewContext,
  isRepeated: boolean,
): ComponentView {
  const read = readProps(component, props);
  const unchanging = (element: HTMLElement): ComponentView => ({ element, update: () => undefined });
  switch (read?.kind) {
    case 'choices':
      return choicesView(read, context);
    case 'card':
      return unchanging(cardView(read, context));
    case 'list':
      return unchanging(listView(read, context));
    case undefined: {
      const prose = new MarkdownView(context, 'markdown fallback');
      if (!isRepeated) prose.update(fallback);
      return unchanging(prose.element);
    }
    default:
      return read satisfies never;
  }
}

function choicesView(
  { question, choices }: Extract<ComponentProps, { kind: 'choices' }>,
  { chat, strings }: ViewContext,
): ComponentView {
  const buttons = choices.map((choice) => choiceButton(choice, () => void chat.send(choice.label)));
  const list = make('div', { className: 'choices' }, ...buttons);
  const element = make(
    'div',
    { className: 'component', attributes: { role: 'group', 'aria-label': question } },
    make('p', { className: 'question', text: question, attributes: { dir: 'auto' } }),
    list,
  );
  return {
    element,
    update: (isOpen, chosen) => {
      buttons.forEach((each, index) => {
        const isChosen = chosen !== null && choices[index]?.label === chosen;
        // Disabling the button would take the focus from the visitor who has just pressed it.
        each.setAttribute('aria-disabled', String(!isOpen));
        each.classList.toggle('chosen', isChosen);
        if (isChosen) each.setAttribute('aria-description', strings.chosen);
        else each.removeAttribute('aria-description');
      });
    },
  };
}

function choiceButton({ label, description }: Choice, choose: () => void): HTMLButtonElement {
  const made = make(
    'button',
    { className: 'choice', attributes: { type: 'button', dir: 'auto' } },
    make('span', { text: label }),
    description !== undefined && make('small', { text: description }),
  );
  made.addEventListener('click', () => {
    if (made.getAttribute('aria-disabled') !== 'true') choose();
  });
  return made;
}

function cardView(card: Extract<ComponentProps, { kind: 'card' }>, context: ViewContext): HTMLElement {
  const fields = card.fields.flatMap(({ label, value }) => [make('dt', { text: label }), make('dd', { text: value })]);
  return make(
    'article',
    { className: 'component card', attributes: { 'aria-label': card.title, dir: 'auto' } },
    picture(card.image, context),
    make('p', { className: 'card-title', text: card.title }),
    card.subtitle !== undefined && make('p', { className: 'card-subtitle', text: card.subtitle }),
    card.text !== undefined && make('p', { className: 'card-text', text: card.text }),
    fields.length > 0 && make('dl', {}, ...fields),
    linksView(card.links),
  );
}

function listView({ title, items }: Extract<ComponentProps, { kind: 'list' }>, context: ViewContext): HTMLElement {
  const entries = items.map((item) =>
    make(
      'li',
      {},
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
  return image ? imageView(image.url, image.alt, context) : null;
}

function linksView(links: readonly LinkProps[]): HTMLElement | null {
  return links.length === 0
    ? null
    : make('p', { className: 'links' }, ...links.map(({ label, url }) => linkView(url, [label])));
}
