import type { PageFacts } from '../../domain/parsed-document.js';
import { MAX_LINK_CHARACTERS, MAX_LINKS } from '../../limits.js';
import type { Attributes } from './html-tree.js';

/** Of an address within the text. */
const MAX_SHOWN_CHARACTERS = 500;

/** What a page says about itself and others, gathered from its elements as they come. */
export class PageFactsReader {
  private readonly hrefs = new Set<string>();
  private base: string | undefined;
  private canonicalHref: string | undefined;
  private refreshHref: string | undefined;
  private isNoindex = false;
  private isNofollow = false;
  openGraphTitle: string | undefined;
  language: string | undefined;

  /** @param url of the page; null for a file, which has no links that could be followed */
  constructor(private readonly url: string | null) {}

  readonly element = (name: string, attributes: Attributes): void => {
    if (name === 'a' || name === 'area') this.addLink(attributes);
    else if (name === 'meta') this.readMeta(attributes);
    else if (name === 'link') this.readLink(attributes);
    else if (name === 'base') this.base ??= attributes['href'];
    else if (name === 'html') this.language ??= attributes['lang'] ?? attributes['xml:lang'];
  };

  facts(): PageFacts {
    const base = this.absolute(this.base, this.url) ?? this.url;
    const links = new Set<string>();
    for (const href of this.isNofollow ? [] : this.hrefs) {
      const link = this.absolute(href, base);
      if (link !== null) links.add(link);
    }
    return {
      links: [...links],
      canonical: this.absolute(this.canonicalHref, base),
      noindex: this.isNoindex,
      refresh: this.absolute(this.refreshHref, base),
    };
  }

  /** Of a link, as a reader is told it: absolute, with its fragment; null for a part of the same page and for scripts. */
  readonly addressOf = (href: string): string | null => {
    const address = href.trim();
    if (address.startsWith('#') || address.length > MAX_SHOWN_CHARACTERS) return null;
    const url = URL.parse(address, this.absolute(this.base, this.url) ?? this.url ?? undefined);
    if (url?.protocol === 'mailto:') return url.pathname;
    return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.href : null;
  };

  private addLink({ href, rel = '' }: Attributes): void {
    if (href === undefined || href.length > MAX_LINK_CHARACTERS || this.hrefs.size >= MAX_LINKS) return;
    // Most of a page's links to itself, which none of the others may be left out for.
    if (href.startsWith('#') || hasToken(rel, 'nofollow')) return;
    this.hrefs.add(href);
  }

  private readLink({ rel = '', href }: Attributes): void {
    if (hasToken(rel, 'canonical')) this.canonicalHref ??= href;
  }

  private readMeta(attributes: Attributes): void {
    const content = attributes['content'] ?? '';
    const name = (attributes['name'] ?? attributes['property'] ?? '').trim().toLowerCase();
    if (name === 'robots') this.readRobots(content);
    else if (name === 'og:title') this.openGraphTitle ??= content;
    const equivalent = attributes['http-equiv']?.trim().toLowerCase();
    if (equivalent === 'refresh') this.refreshHref ??= refreshTarget(content);
    else if (equivalent === 'content-language') this.language ??= content;
  }

  private readRobots(content: string): void {
    const said = content.toLowerCase().split(/[\s,]+/);
    if (said.includes('noindex') || said.includes('none')) this.isNoindex = true;
    if (said.includes('nofollow') || said.includes('none')) this.isNofollow = true;
  }

  private absolute(href: string | undefined, base: string | null): string | null {
    if (href === undefined || href.length > MAX_LINK_CHARACTERS) return null;
    const url = URL.parse(href.trim(), base ?? undefined);
    if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return null;
    url.hash = '';
    return url.href.length > MAX_LINK_CHARACTERS ? null : url.href;
  }
}

function hasToken(list: string, token: string): boolean {
  return list.toLowerCase().split(/\s+/).includes(token);
}

/** `5; url='https://…'`; without an address it is the page itself, again. */
function refreshTarget(content: string): string | undefined {
  const [, , rest = ''] = /^\s*([\d.]*)\s*[;,]?\s*(.*)$/s.exec(content.slice(0, MAX_LINK_CHARACTERS + 100)) ?? [];
  const target = rest.replace(/^url\s*=\s*/i, '').trim();
  const quoted = /^(["'])([^"']*)/.exec(target)?.[2];
  return (quoted ?? target) || undefined;
}
