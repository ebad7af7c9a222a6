import { componentKind } from './component-kind.js';
import { fields, image, links, listOf, text } from './fields.js';
import { blocks, bold, bullets, link, multiline, picture } from './markdown.js';

const item = fields({
  title: text(200, 'What it is.'),
  text: text(1_000, 'What there is to say of it.').optional(),
  image: image('A picture of it.').optional(),
  links: links(3).optional(),
});

export const list = componentKind({
  name: 'list',
  description: 'Shows the user several things of a kind as a list, such as products or results of a search.',
  schema: fields({
    title: text(200, 'What the things have in common.').optional(),
    items: listOf(item, { min: 1, max: 20 }, 'The things, the most important first.'),
  }),
  fallback: (props) =>
    blocks(
      props.title && bold(props.title),
      bullets(
        props.items.map(({ title, text: said, image: pictured, links: linked = [] }) =>
          blocks(bold(title), said && multiline(said), pictured && picture(pictured), bullets(linked.map(link))),
        ),
      ),
    ),
  since: () => [0, 5, 0],
});
