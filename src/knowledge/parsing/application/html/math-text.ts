import { type HtmlElement, textIn } from './html-tree.js';

/** The formula's source if the element contains it, and otherwise one line such as `x^2` or `(a)/(b)`. */
export function mathText(math: HtmlElement): string {
  return (math.attributes['alttext'] ?? annotation(math) ?? linear(math)).replace(/\s+/g, ' ').trim();
}

function annotation(math: HtmlElement): string | undefined {
  for (const child of math.elements) {
    if (child.name === 'annotation') return textIn(child);
    if (child.name !== 'semantics') continue;
    return annotation(child);
  }
  return undefined;
}

function linear(element: HtmlElement): string {
  const parts = element.children
    .map((child) => (typeof child === 'string' ? child.trim() : child.name === 'annotation' ? '' : linear(child)))
    .filter((part) => part !== '');
  const [first = '', second = '', third = ''] = parts;
  switch (element.name) {
    case 'mfrac':
      return `(${first})/(${second})`;
    case 'msup':
    case 'mover':
      return `${first}^${grouped(second)}`;
    case 'msub':
    case 'munder':
      return `${first}_${grouped(second)}`;
    case 'msubsup':
    case 'munderover':
      return `${first}_${grouped(second)}^${grouped(third)}`;
    case 'msqrt':
      return `√(${parts.join(' ')})`;
    case 'mroot':
      return `root(${first}, ${second})`;
    case 'mtr':
      return `${parts.join(', ')};`;
    default:
      return parts.join(' ');
  }
}

function grouped(part: string): string {
  return [...part].length > 1 ? `(${part})` : part;
}
