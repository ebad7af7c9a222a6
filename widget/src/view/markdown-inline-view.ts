import { make } from './dom.js';
import { imageView } from './image-view.js';
import { type Inline, parseInline } from './markdown-inline.js';
import { formulaView } from './markdown-formula.js';
import { linkView } from './markdown-link.js';
import type { ViewContext } from './view-context.js';

const TAGS = { strong: 'strong', emphasis: 'em', deleted: 'del' } as const;

/** Draws the text of a block. */
export function inlineViews(text: string, context: ViewContext): Node[] {
  return parseInline(text).flatMap((node) => inlineView(node, context));
}

function inlineView(node: Inline, context: ViewContext): Node | Node[] {
  const inside = (children: readonly Inline[]): Node[] => children.flatMap((child) => inlineView(child, context));
  switch (node.type) {
    case 'text':
      return document.createTextNode(node.text);
    case 'code':
      return make('code', { text: node.text, attributes: { dir: 'ltr' } });
    case 'break':
      return make('br');
    case 'formula':
      return formulaView(node.source, node.written);
    case 'note':
      // The footnotes make it a link as soon as the note is there.
      return make('span', { text: `[^${node.label}]`, attributes: { 'data-note': node.label } });
    case 'image':
      return imageView(node.src, node.alt, context);
    case 'link': {
      // The button of an image would be inside the link, where it cannot be pressed.
      const [children, images] = withoutImages(node.children);
      return [linkView(node.href, inside(children)), ...inside(images)];
    }
    case 'strong':
    case 'emphasis':
    case 'deleted':
      return make(TAGS[node.type], {}, ...inside(node.children));
    default:
      return node satisfies never;
  }
}

/** Replaces images by their texts. */
function withoutImages(nodes: readonly Inline[]): readonly [Inline[], Inline[]] {
  const images: Inline[] = [];
  const replace = (node: Inline): Inline => {
    if (node.type === 'image') {
      images.push(node);
      return { type: 'text', text: node.alt };
    }
    return 'children' in node ? { ...node, children: node.children.map(replace) } : node;
  };
  return [nodes.map(replace), images];
}
