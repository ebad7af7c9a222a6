import { Parser } from 'htmlparser2';
import { UnreadableDocument } from '../../domain/parsing.errors.js';
import { MAX_ELEMENT_DEPTH, MAX_HTML_EVENTS, MAX_OPEN_ELEMENTS } from '../../limits.js';
import { depthBoundTokenizer } from './depth-bound-tokenizer.js';

/** What an HTML document holds for its readers, in order. Nothing in it is nested deeper than `MAX_ELEMENT_DEPTH`. */
export type HtmlEvent =
  | { readonly kind: 'open'; readonly name: string; readonly attributes: Readonly<Record<string, string>>; readonly isBoilerplate: boolean }
  | { readonly kind: 'text'; readonly text: string; readonly isBoilerplate: boolean }
  | { readonly kind: 'close'; readonly name: string; readonly isBoilerplate: boolean };

/** Nobody sees what is in them, or it is no text of the page's. */
const UNSEEN = new Set([
  ...['script', 'style', 'template', 'noscript', 'iframe', 'object', 'embed', 'svg', 'math', 'canvas', 'video', 'audio', 'head', 'title'],
  ...['select', 'button', 'input', 'textarea', 'dialog', 'datalist', 'map'],
]);
const BOILERPLATE = new Set(['nav', 'footer', 'menu']);
const BOILERPLATE_ROLES = /^(navigation|contentinfo|search|banner|menu|menubar|dialog|alertdialog|complementary)$/i;
const MAIN = new Set(['main', 'article']);

export interface HtmlListener {
  /** Each element of the document, the unseen ones too. */
  readonly element: (name: string, attributes: Readonly<Record<string, string>>) => void;
  /** The document's `<title>`. */
  readonly title: (text: string) => void;
}

interface OpenElement {
  readonly name: string;
  /** Nothing of it is passed on: unseen, or nested too deep. */
  readonly isDropped: boolean;
}

/** What is seen of a document, with what is around the content on every page of a site marked as such. */
export class HtmlReader {
  readonly events: HtmlEvent[] = [];
  private readonly stack: OpenElement[] = [];
  private unseen = 0;
  private boilerplate = 0;
  private main = 0;
  /** Depths at which the sections began that are counted above. */
  private readonly marks: { readonly depth: number; readonly counter: 'unseen' | 'boilerplate' | 'main' }[] = [];
  private inTitle = false;
  private foreign = 0;

  constructor(private readonly listener: HtmlListener) {}

  read(html: string): void {
    const parser = new Parser(
      {
        onopentag: (name, attributes) => this.open(name, attributes),
        ontext: (text) => this.text(text),
        onclosetag: (name) => this.close(name),
      },
      { Tokenizer: depthBoundTokenizer(html, () => this.stack.length >= MAX_OPEN_ELEMENTS) },
    );
    parser.write(html);
    parser.end();
  }

  private open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.listener.element(name, attributes);
    if (name === 'svg') this.foreign += 1;
    if (name === 'title' && this.foreign === 0) this.inTitle = true;
    const depth = this.stack.length;
    if (UNSEEN.has(name) || isHidden(attributes)) this.mark(depth, 'unseen');
    else if (this.isBoilerplateElement(name, attributes)) this.mark(depth, 'boilerplate');
    else if (MAIN.has(name)) this.mark(depth, 'main');
    const isDropped = this.unseen > 0 || depth >= MAX_ELEMENT_DEPTH;
    this.stack.push({ name, isDropped });
    if (!isDropped) this.add({ kind: 'open', name, attributes, isBoilerplate: this.boilerplate > 0 });
  }

  private text(text: string): void {
    if (this.inTitle) this.listener.title(text);
    else if (this.unseen === 0) this.add({ kind: 'text', text, isBoilerplate: this.boilerplate > 0 });
  }

  private close(name: string): void {
    if (name === 'title') this.inTitle = false;
    if (name === 'svg') this.foreign = Math.max(0, this.foreign - 1);
    const element = this.stack.pop();
    if (element?.isDropped === false) this.add({ kind: 'close', name: element.name, isBoilerplate: this.boilerplate > 0 });
    const mark = this.marks.at(-1);
    if (mark?.depth !== this.stack.length) return;
    this[mark.counter] -= 1;
    this.marks.pop();
  }

  /** @throws UnreadableDocument where there are too many */
  private add(event: HtmlEvent): void {
    if (this.events.length >= MAX_HTML_EVENTS) {
      throw new UnreadableDocument('too_large', `The document is made of more pieces than can be read: at most ${MAX_HTML_EVENTS / 1_000_000} million tags and texts between them.`);
    }
    this.events.push(event);
  }

  private mark(depth: number, counter: 'unseen' | 'boilerplate' | 'main'): void {
    this.marks.push({ depth, counter });
    this[counter] += 1;
  }

  /** A note in the margin of an article is part of it; one of the page is not. */
  private isBoilerplateElement(name: string, { role = '' }: Readonly<Record<string, string>>): boolean {
    return BOILERPLATE.has(name) || BOILERPLATE_ROLES.test(role.trim()) || (name === 'aside' && this.main === 0);
  }
}

function isHidden(attributes: Readonly<Record<string, string>>): boolean {
  const { hidden, style } = attributes;
  if (hidden !== undefined && hidden !== 'until-found') return true;
  if (attributes['aria-hidden'] === 'true') return true;
  return style !== undefined && /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(style.slice(0, 2_000));
}
