import type { PageFacts } from '../../domain/parsed-document.js';
import { MAX_LINK_CHARACTERS, MAX_LINKS } from '../../limits.js';
import type { Attributes } from './html-tree.js';

const MAX_SHOWN_CHARACTERS = 500;

/** Collects a page's metadata and links from its elements, in document order. */
export class PageFactsReader {
  private readonly hrefs = new Set<string>();
  private baseHref: string | undefined;
  private canonicalHref: string | undefined;
  private refreshHref: string | undefined;
  private isNoindex = false;
  private isNofollow = false;
  openGraphTitle: string | undefined;
  language: string | undefined;

  /** @param url of the page; null for a file */
  constructor(private readonly url: string | null) {}

  readonly element = (name: string, attributes: Attributes): void => {
    const { href, rel = '' } = attributes;
    if (name === 'a' || name === 'area') this.addLink(href, rel);
    else if (name === 'meta') this.readMeta(attributes);
    else if (name === 'link' && hasToken(rel, 'canonical')) this.canonicalHref ??= href;
    else if (name === 'base') this.baseHref ??= href;
    else if (name === 'html') this.language ??= attributes['lang'] ?? attributes['xml:lang'];
  };

  facts(): PageFacts {
    const { base } = this;
    const links = [...(this.isNofollow ? [] : this.hrefs)]
      .map((href) => pageAddress(href, base))
      .filter((link) => link !== null);
    return {
      links: [...new Set(links)],
      canonical: pageAddress(this.canonicalHref, base),
      noindex: this.isNoindex,
      refresh: pageAddress(this.refreshHref, base),
    };
  }

  /** The target of a link as it is shown in the text: absolute, with its fragment. Null for the same page and for scripts. */
  readonly addressOf = (href: string): string | null => {
    const address = href.trim();
    if (address.startsWith('#') || address.length > MAX_SHOWN_CHARACTERS) return null;
    const url = URL.parse(address, this.base ?? undefined);
    if (url?.protocol === 'mailto:') return url.pathname;
    return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.href : null;
  };

  private get base(): string | null {
    return pageAddress(this.baseHref, this.url) ?? this.url;
  }

  private addLink(href: string | undefined, rel: string): void {
    if (href === undefined || href.length > MAX_LINK_CHARACTERS || this.hrefs.size >= MAX_LINKS) return;
    // Links within the page must not use up the limit.
    if (!href.startsWith('#') && !hasToken(rel, 'nofollow')) this.hrefs.add(href);
  }

  private readMeta({ content = '', ...attributes }: Attributes): void {
    const name = (attributes['name'] ?? attributes['property'] ?? '').trim().toLowerCase();
    const equivalent = attributes['http-equiv']?.trim().toLowerCase();
    if (name === 'robots') {
      const rules = content.toLowerCase().split(/[\s,]+/);
      this.isNoindex ||= rules.includes('noindex') || rules.includes('none');
      this.isNofollow ||= rules.includes('nofollow') || rules.includes('none');
    } else if (name === 'og:title') this.openGraphTitle ??= content;
    if (equivalent === 'refresh') this.refreshHref ??= refreshTarget(content);
    else if (equivalent === 'content-language') this.language ??= content;
  }
}

/** An absolute http or https address without fragment; null for anything else. */
function pageAddress(href: string | undefined, base: string | null): string | null {
  if (href === undefined || href.length > MAX_LINK_CHARACTERS) return null;
  const url = URL.parse(href.trim(), base ?? undefined);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return null;
  url.hash = '';
  return url.href.length > MAX_LINK_CHARACTERS ? null : url.href;
}

function hasToken(list: string, token: string): boolean {
  return list.toLowerCase().split(/\s+/).includes(token);
}

/** The address in `5; url='https://…'`; undefined for a refresh of the page itself. */
function refreshTarget(content: string): string | undefined {
  const [, , rest = ''] = /^\s*([\d.]*)\s*[;,]?\s*(.*)$/s.exec(content.slice(0, MAX_LINK_CHARACTERS + 100)) ?? [];
  const target = rest.replace(/^url\s*=\s*/i, '').trim();
  const quoted = /^(["'])([^"']*)/.exec(target)?.[2];
  return (quoted ?? target) || undefined;
}
