import { type ComponentKind, componentKind } from './component-kind.js';
import type { ComponentName } from './component-names.js';
import { fields, image, links, listOf, repeatedLabel, text } from './fields.js';
import { blocks, bold, bullets, inline, link, multiline, picture } from './markdown.js';

const confirm = componentKind({
  name: 'confirm',
  description:
    'Shows the user a question with two buttons, one for yes and one for no. Their choice arrives as their next message.',
  schema: fields({
    question: text(500, 'The question.'),
    confirmLabel: text(60, 'The button for yes.').default('Yes'),
    cancelLabel: text(60, 'The button for no.').default('No'),
  }).superRefine(({ confirmLabel, cancelLabel }, context) => {
    if (repeatedLabel([confirmLabel, cancelLabel]) === undefined) return;
    const message = 'is the same as confirmLabel; the two must differ';
    context.addIssue({ code: 'custom', path: ['cancelLabel'], message });
  }),
  fallback: ({ question, confirmLabel, cancelLabel }) =>
    blocks(multiline(question), bullets([inline(confirmLabel), inline(cancelLabel)])),
  since: () => [0, 3, 0],
});

const option = fields({
  label: text(80, 'The text of the button, which becomes the answer of the user.'),
  description: text(200, 'An explanation, if the label needs one.').optional(),
});

const select = componentKind({
  name: 'select',
  description:
    'Shows the user a question with a button for each of several options, of which they choose one. Their choice arrives as their next message.',
  schema: fields({
    question: text(500, 'The question.'),
    options: listOf(option, { min: 2, max: 10 }, 'The options. No two labels may be the same.').superRefine(
      (all, context) => {
        const repeated = repeatedLabel(all.map(({ label }) => label));
        if (repeated !== undefined)
          context.addIssue(`has the label ${JSON.stringify(repeated)} twice; all labels must differ`);
      },
    ),
  }),
  fallback: (props) =>
    blocks(
      multiline(props.question),
      bullets(
        props.options.map(({ label, description }) =>
          description === undefined ? inline(label) : `${bold(label)}: ${inline(description)}`,
        ),
      ),
    ),
  since: () => [0, 3, 0],
});

const detail = fields({ label: text(80, 'Such as "Price".'), value: text(500, 'Such as "1,200 €".') });

const card = componentKind({
  name: 'card',
  description: 'Shows the user one thing with its details as a card, such as a product, an order or an appointment.',
  schema: fields({
    title: text(200, 'The name of the thing.'),
    subtitle: text(200, 'A line below the title.').optional(),
    text: text(2_000, 'A description.').optional(),
    fields: listOf(detail, { min: 0, max: 10 }, 'The details.').optional(),
    image: image('A picture of the thing.').optional(),
    links: links(5).optional(),
  }),
  fallback: (props) =>
    blocks(
      bold(props.title),
      props.subtitle && inline(props.subtitle),
      props.text && multiline(props.text),
      bullets((props.fields ?? []).map(({ label, value }) => `${bold(label)}: ${inline(value)}`)),
      props.image && picture(props.image),
      bullets((props.links ?? []).map(link)),
    ),
  since: (props) => (props.image !== undefined || props.links !== undefined ? [0, 5, 0] : [0, 4, 0]),
});

const item = fields({
  title: text(200, 'The name of the thing.'),
  text: text(1_000, 'A description.').optional(),
  image: image('A picture of the thing.').optional(),
  links: links(3).optional(),
});

const list = componentKind({
  name: 'list',
  description: 'Shows the user several things of a kind as a list, such as products or search results.',
  schema: fields({
    title: text(200, 'What the things have in common.').optional(),
    items: listOf(item, { min: 1, max: 20 }, 'The things, the most important first.'),
  }),
  fallback: (props) =>
    blocks(
      props.title && bold(props.title),
      bullets(
        props.items.map((each) =>
          blocks(
            bold(each.title),
            each.text && multiline(each.text),
            each.image && picture(each.image),
            bullets((each.links ?? []).map(link)),
          ),
        ),
      ),
    ),
  since: () => [0, 5, 0],
});

export const COMPONENTS: Readonly<Record<ComponentName, ComponentKind>> = { confirm, select, card, list };
