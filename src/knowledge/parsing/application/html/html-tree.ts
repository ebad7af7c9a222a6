import { UnreadableDocument } from '../../domain/parsing.errors.js';
import { MAX_HTML_PIECES, MAX_OPEN_ELEMENTS, MAX_TITLE_CHARACTERS } from '../../limits.js';
import { wordSet } from '../formats/clean-text.js';
import { ShallowParser } from './shallow-parser.js';

export type Attributes = Readonly<Record<string, string>>;

const COUNTS = ['letters', 'linked', 'steps', 'fields', 'buttons', 'keys', 'titles', 'parts'] as const;

/** An element that is visible, or that a click makes visible, with counts of its content. */
export class HtmlElement {
  readonly children: (HtmlElement | string)[] = [];
  /** Characters without space, and those of them in links. */
  letters = 0;
  linked = 0;
  /** Links to the previous or the next page. */
  steps = 0;
  fields = 0;
  buttons = 0;
  keys = 0;
  titles = 0;
  /** Headings, tables and code blocks, which cells of data tables do not contain. */
  parts = 0;
  /** It is hidden or boilerplate. */
  isLeftOut = false;

  constructor(
    readonly name: string,
    readonly attributes: Attributes,
  ) {}

  get role(): string {
    return (this.attributes['role'] ?? '').trim().toLowerCase();
  }

  get names(): readonly string[] {
    return `${this.attributes['id'] ?? ''} ${this.attributes['class'] ?? ''}`
      .toLowerCase()
      .split(/\s+/, 50)
      .filter((name) => name !== '');
  }

  get elements(): readonly HtmlElement[] {
    return this.children.filter((child) => typeof child !== 'string');
  }

  get isLink(): boolean {
    return this.name === 'a' && this.attributes['href'] !== undefined;
  }

  add(child: HtmlElement): void {
    for (const count of COUNTS) this[count] += child[count];
  }
}

/** All text of the element, including its buttons. */
export function textIn(element: HtmlElement): string {
  return element.children.map((child) => (typeof child === 'string' ? child : textIn(child))).join('');
}

export interface HtmlTree {
  readonly root: HtmlElement;
  readonly title: string;
  /** The texts of tabs, by the id of the panel that they show and by their own id. */
  readonly tabs: ReadonlyMap<string, string>;
}

/** Elements whose content is not visible or not text of the page. */
const UNSEEN = wordSet(
  'script style template noscript iframe object embed svg canvas video audio head title select textarea ' +
    'datalist map annotation-xml',
);
const STEP =
  /^(?:[\s«‹<←-]*(?:prev(?:ious)?|next|back|zurück|weiter|vorherige|nächste|précédent|suivant|назад|далее|上一页|下一页|前へ|次へ|戻る|进む|이전|다음)(?:\s+(?:page|chapter|section|topic|post|article|seite))?(?:\s*[:–—].*|[\s»›>→-]*)|[«‹←].*|[<>»›→]+)$/isu;
const STEP_NAME = /^(?:prev|previous|next)(?:[-_]?(?:page|link|post|chapter|article))?$/;
/** Names of elements that a click on a control shows. */
const PANEL = /panel|tab-?(?:pane|content)|accordion|collaps|answer|spoiler|expand/;
/** Attributes of controls with the id of the element that they show. */
const CONTROLS = ['aria-controls', 'data-target', 'data-bs-target', 'popovertarget', 'commandfor', 'onclick'];
const TEXT_FIELDS = new Set(['', 'text', 'email', 'search', 'password', 'tel']);

/** @param listener is called for each element of the document, also for those that are not visible */
export function readTree(html: string, listener: (name: string, attributes: Attributes) => void): HtmlTree {
  const builder = new TreeBuilder(listener);
  const parser = new ShallowParser(html, builder, () => builder.depth >= MAX_OPEN_ELEMENTS);
  parser.end(html);
  builder.leaveOutHidden();
  return { root: builder.root, title: builder.title, tabs: builder.tabNames() };
}

const TOO_MANY_PIECES = `The document has more tags and texts between them than can be read: at most ${MAX_HTML_PIECES / 1_000_000} million.`;

class TreeBuilder {
  readonly root = new HtmlElement('html', {});
  title = '';
  /** The open elements; undefined for those that are not visible. */
  private readonly stack: (HtmlElement | undefined)[] = [];
  private readonly seen = [this.root];
  private readonly controlled = new Set<string>();
  private readonly tabs: HtmlElement[] = [];
  private readonly hidden: HtmlElement[] = [];
  private foreign = 0;
  private pre = 0;
  private pieces = 0;
  private inTitle = false;

  constructor(private readonly listener: (name: string, attributes: Attributes) => void) {}

  get depth(): number {
    return this.stack.length;
  }

  readonly onopentag = (name: string, attributes: Attributes): void => {
    this.countPiece();
    this.listener(name, attributes);
    if (name === 'svg') this.foreign += 1;
    if (name === 'title' && this.foreign === 0) this.inTitle = true;
    const isUnseen = UNSEEN.has(name) || (this.stack.length > 0 && this.stack.at(-1) === undefined);
    const element = isUnseen ? undefined : new HtmlElement(name, attributes);
    this.stack.push(element);
    if (element) this.place(element);
  };

  readonly ontext = (text: string): void => {
    this.countPiece();
    if (this.inTitle && this.title.length < MAX_TITLE_CHARACTERS) this.title += text;
    if (this.stack.length > 0 && this.stack.at(-1) === undefined) return;
    const element = this.parent;
    // Collapses space here once, since the text is read several times.
    element.children.push(this.pre > 0 ? text : text.replace(/\s+/g, ' '));
    element.letters += text.replace(/\s+/g, '').length;
  };

  readonly onclosetag = (name: string): void => {
    if (name === 'title') this.inTitle = false;
    if (name === 'svg') this.foreign = Math.max(0, this.foreign - 1);
    const element = this.stack.pop();
    if (!element) return;
    this.seen.pop();
    if (element.name === 'pre') this.pre -= 1;
    count(element, this.pre > 0);
    this.parent.add(element);
  };

  leaveOutHidden(): void {
    for (const element of this.hidden) element.isLeftOut = !this.controlled.has(element.attributes['id'] ?? '');
  }

  tabNames(): ReadonlyMap<string, string> {
    return new Map(
      this.tabs.flatMap((tab) =>
        [tab.attributes['aria-controls'], tab.attributes['id']].map((id) => [id ?? '', textIn(tab)] as const),
      ),
    );
  }

  private get parent(): HtmlElement {
    return this.seen.at(-1) ?? this.root;
  }

  private place(element: HtmlElement): void {
    const { attributes, role } = element;
    if (isHidden(element) && !isPanel(element, this.parent)) this.hidden.push(element);
    if (role === 'tab') this.tabs.push(element);
    for (const key of CONTROLS)
      for (const id of attributes[key]?.slice(0, 1_000).split(/[\s#'"(),;]+/) ?? []) this.controlled.add(id);
    if (attributes['href']?.startsWith('#')) this.controlled.add(attributes['href'].slice(1));
    if (element.name === 'pre') this.pre += 1;
    this.parent.children.push(element);
    this.seen.push(element);
  }

  private countPiece(): void {
    this.pieces += 1;
    if (this.pieces > MAX_HTML_PIECES) throw new UnreadableDocument('too_large', TOO_MANY_PIECES);
  }
}

function count(element: HtmlElement, isInCode: boolean): void {
  const { name, attributes } = element;
  if (element.isLink) {
    if (element.linked === 0 && isStep(element)) element.steps += 1;
    element.linked = element.letters;
  } else if (name === 'input' && TEXT_FIELDS.has(attributes['type']?.toLowerCase() ?? '')) element.fields += 1;
  else if (name === 'button') element.buttons += 1;
  else if (name === 'kbd') element.keys += 1;
  else if (name === 'h1') element.titles += 1;
  if (/^(?:h[1-6]|table)$/.test(name) || (name === 'pre' && !isInCode && textIn(element).trim().includes('\n')))
    element.parts += 1;
}

function isStep(link: HtmlElement): boolean {
  if (/(?:^|\s)(?:prev|next)(?:\s|$)/i.test(link.attributes['rel'] ?? '')) return true;
  if (link.names.some((name) => STEP_NAME.test(name))) return true;
  return link.letters > 0 && link.letters <= 100 && STEP.test(textIn(link).trim());
}

export function isHidden({ attributes }: HtmlElement): boolean {
  const { hidden, style } = attributes;
  if ((hidden !== undefined && hidden !== 'until-found') || attributes['aria-hidden'] === 'true') return true;
  return style !== undefined && /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(style.slice(0, 2_000));
}

/** Whether a click shows the element, judged by its start tag and the elements before it. */
function isPanel(element: HtmlElement, parent: HtmlElement): boolean {
  if (element.name === 'dialog' || /^(?:tabpanel|dialog)$/.test(element.role)) return true;
  if (element.attributes['popover'] !== undefined) return true;
  if (element.names.some((name) => PANEL.test(name))) return true;
  const before = parent.children.findLast((child) => typeof child !== 'string' || child.trim() !== '');
  if (before === undefined || typeof before === 'string') return false;
  return before.buttons > 0 || before.role === 'button' || before.attributes['aria-expanded'] !== undefined;
}
