import { createRequire } from 'node:module';
import { Readability } from '@mozilla/readability';
import { HtmlBlocks } from './html-blocks.js';
import type { BlockList } from '../formats/block-list.js';
import type { HtmlEvent } from './html-events.js';

/** As the parser that comes with Readability makes them. */
interface Node {
  readonly nodeType: number;
  readonly localName?: string;
  readonly textContent: string;
  readonly childNodes: readonly Node[];
  getAttribute?: (name: string) => string | null;
}
type DomParser = new () => { parse: (html: string, url: string) => unknown };

// A tenth of the time of a complete DOM; it wants well-formed input, which the events give. Not among the package's typed exports.
const { JSDOMParser } = { JSDOMParser: createRequire(import.meta.url)('@mozilla/readability/JSDOMParser.js') as DomParser };

/** Those that Readability looks at, and those that blocks are made with. */
const KEPT_ATTRIBUTES = ['class', 'id', 'href', 'role', 'alt', 'start', 'itemprop', 'rel'];
const VOID = new Set(['br', 'hr', 'img', 'wbr', 'col', 'area', 'base', 'link', 'meta', 'param', 'source', 'track', 'input', 'embed']);
/** They would be read as part of the document's frame. */
const FRAME = new Set(['html', 'head', 'body']);
/** Names as of elements of anybody's own; the parser takes no others. */
const NAME = /^[a-z][a-z0-9-]*$/;
const TEXT_NODE = 3;
const ELEMENT_NODE = 1;
/** Readability tries again with looser rules where it finds less. */
const MIN_CHARACTERS = 200;

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

function wellFormed(events: readonly HtmlEvent[]): string {
  const parts = ['<html><head></head><body>'];
  for (const event of events) {
    if (event.kind === 'text') parts.push(escaped(event.text));
    else if (FRAME.has(event.name) || !NAME.test(event.name)) continue;
    else if (event.kind === 'open') parts.push(openTag(event.name, event.attributes));
    else if (!VOID.has(event.name)) parts.push(`</${event.name}>`);
  }
  parts.push('</body></html>');
  return parts.join('');
}

function openTag(name: string, attributes: Readonly<Record<string, string>>): string {
  let tag = `<${name}`;
  for (const key of KEPT_ATTRIBUTES) {
    const value = attributes[key];
    if (value !== undefined) tag += ` ${key}="${escaped(value.slice(0, 300))}"`;
  }
  return VOID.has(name) ? `${tag}/>` : `${tag}>`;
}

/**
 * Adds the main content of a page to the blocks.
 * @returns how many characters it has without space; 0 where none was found
 */
export function addMainContent(events: readonly HtmlEvent[], blocks: BlockList): number {
  // Typed with a browser's document, which is not among the types here; nodes come back as they went in.
  const readability = new Readability<unknown>(new JSDOMParser().parse(wellFormed(events), 'http://page.invalid/'), { charThreshold: MIN_CHARACTERS, serializer: (node): unknown => node, disableJSONLD: true });
  const content = readability.parse()?.content as Node | null | undefined;
  if (!content) return 0;
  const builder = new HtmlBlocks(blocks);
  walk(content, builder);
  builder.end();
  return lengthWithoutSpace(content.textContent);
}

/** Nested no deeper than the events are. */
function walk(node: Node, builder: HtmlBlocks): void {
  for (const child of node.childNodes) {
    if (child.nodeType === TEXT_NODE) builder.text(child.textContent);
    if (child.nodeType !== ELEMENT_NODE) continue;
    const name = child.localName ?? '';
    const attributes = { role: child.getAttribute?.('role') ?? '', alt: child.getAttribute?.('alt') ?? '', start: child.getAttribute?.('start') ?? '' };
    builder.open(name, attributes);
    walk(child, builder);
    builder.close(name);
  }
}

export function lengthWithoutSpace(text: string): number {
  return text.replace(/\s+/g, '').length;
}
