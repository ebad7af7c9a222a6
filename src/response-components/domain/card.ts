import { componentKind } from './component-kind.js';
import { fields, image, links, listOf, text } from './fields.js';
import { blocks, bold, bullets, inline, link, multiline, picture } from './markdown.js';

const field = fields({ label: text(80, 'Such as "Price".'), value: text(500, 'Such as "1,200 €".') });

export const card = componentKind({
  name: 'card',
  description: 'Shows the user one thing with its details as a card, such as a product, an order or an appointment.',
  schema: fields({
    title: text(200, 'What it is.'),
    subtitle: text(200, 'One line below the title.').optional(),
    text: text(2_000, 'What there is to say of it.').optional(),
    fields: listOf(field, { min: 0, max: 10 }, 'Its details.').optional(),
    image: image('A picture of it.').optional(),
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
