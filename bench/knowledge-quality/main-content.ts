/** The main content of a page, by rules for each kind of page that are independent of the service's reader. */
import { ElementType, parseDocument } from 'htmlparser2';
import type { PageRules, Seen } from './packages.ts';

export const UNIT_KINDS = ['paragraph', 'list item', 'table row', 'code block'] as const;
export type UnitKind = (typeof UNIT_KINDS)[number];

export interface Unit {
  readonly kind: UnitKind;
  /** Its text without inner units; a row has one text for each cell. */
  readonly parts: readonly string[];
}

export interface MainContent {
  readonly units: readonly Unit[];
  /** All text that a chunk may contain: the units, the text between them and neutral text. */
  readonly text: string;
}

type Node = ReturnType<typeof parseDocument>['children'][number];
type Tagged = Extract<Node, { attribs: Record<string, string> }>;

const UNITS: Readonly<Partial<Record<string, UnitKind>>> = {
  p: 'paragraph',
  li: 'list item',
  dt: 'list item',
  dd: 'list item',
  tr: 'table row',
  pre: 'code block',
};
const UNREAD: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript', 'head', 'iframe', 'object']);
/** Elements that separate their text from the text around them. */
const INLINE: ReadonlySet<string> = new Set([
  'a',
  'abbr',
  'b',
  'bdi',
  'big',
  'cite',
  'code',
  'em',
  'font',
  'i',
  'kbd',
  'mark',
  'q',
  's',
  'samp',
  'small',
  'span',
  'strong',
  'sub',
  'sup',
  'tt',
  'u',
  'var',
  'wbr',
]);

function isTagged(node: Node): node is Tagged {
  return 'attribs' in node;
}

function seen({ name, attribs }: Tagged): Seen {
  return { tag: name, id: attribs['id'] ?? '', classes: (attribs['class'] ?? '').split(/\s+/), attributes: attribs };
}

export function mainContentOf(html: string, rules: PageRules): MainContent {
  const reader = new Reader(rules);
  for (const root of rootsOf(parseDocument(html).children, rules)) reader.read(root, null, false);
  return {
    units: reader.units
      .map(({ kind, parts }) => ({ kind, parts: parts.filter((part) => part.trim() !== '') }))
      .filter(({ parts }) => parts.length > 0),
    text: reader.text,
  };
}

function rootsOf(nodes: readonly Node[], rules: PageRules): Tagged[] {
  return nodes.filter(isTagged).flatMap((node) => (rules.main(seen(node)) ? [node] : rootsOf(node.children, rules)));
}

class Reader {
  readonly units: { readonly kind: UnitKind; readonly parts: string[] }[] = [];
  text = '';
  private readonly rules: PageRules;

  constructor(rules: PageRules) {
    this.rules = rules;
  }

  /** @param unit that the text belongs to; null between units @param isNeutral allowed in chunks, but not required */
  read(node: Node, unit: string[] | null, isNeutral: boolean): void {
    if (!isTagged(node)) {
      if (node.type === ElementType.Text) this.add(node.data, unit);
      return;
    }
    const element = seen(node);
    if (UNREAD.has(node.name) || this.rules.boilerplate(element)) return;
    const neutral = isNeutral || this.rules.neutral(element);
    const kind = neutral ? undefined : UNITS[node.name];
    let parts = neutral ? null : unit;
    if (kind) {
      parts = [''];
      this.units.push({ kind, parts });
    } else if ((node.name === 'td' || node.name === 'th') && parts) parts.push('');
    const isApart = !INLINE.has(node.name);
    if (isApart) this.add(' ', parts);
    for (const child of node.children) this.read(child, parts, neutral);
    if (isApart) this.add(' ', parts);
  }

  private add(text: string, unit: string[] | null): void {
    this.text += text;
    if (unit) unit[unit.length - 1] = `${unit.at(-1) ?? ''}${text}`;
  }
}
