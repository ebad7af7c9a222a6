import { followsLinks, type WebsiteRoot } from './website-root.js';
import { canonicalUrl } from './website-url.js';

/** A page that belongs to a site. */
export interface ScopedPage {
  readonly url: string;
  readonly rootId: string;
  readonly origin: string;
}

interface Site {
  readonly id: string;
  readonly url: URL;
  /** Of the root, with its final slash. */
  readonly path: string;
  readonly isOpen: boolean;
  readonly selected: ReadonlySet<string>;
  /** Paths without a final slash, and paths with a query. */
  readonly excluded: ReadonlySet<string>;
}

/** Which addresses an agent's sites hold, and to which of them each belongs. Of nested sites the inner one has a page. */
export class CrawlScope {
  private readonly sites: readonly Site[];

  constructor(
    roots: readonly WebsiteRoot[],
    private readonly maxCharacters: number,
  ) {
    this.sites = roots.map(siteOf).sort((left, right) => right.path.length - left.path.length);
  }

  get origins(): readonly string[] {
    return [...new Set(this.sites.map(({ url }) => url.origin))];
  }

  /** Origins of the sites whose links are followed: those whose sitemaps count. */
  get openOrigins(): readonly string[] {
    return [...new Set(this.sites.filter(({ isOpen }) => isOpen).map(({ url }) => url.origin))];
  }

  /** Where the crawl begins. */
  get seeds(): readonly ScopedPage[] {
    const seeds = new Map<string, ScopedPage>();
    for (const { selected } of this.sites) {
      for (const url of selected) {
        const page = this.pageAt(url);
        if (page) seeds.set(page.url, page);
      }
    }
    return [...seeds.values()];
  }

  /** The page that a link leads to, where the crawl may follow it: inside a site whose links are followed, or a picked page. */
  pageAt(href: string): ScopedPage | null {
    return this.locate(href, (site, url) => site.isOpen || site.selected.has(url));
  }

  /** The page at an address that a picked page's server redirects to: anywhere inside a site. */
  targetAt(href: string): ScopedPage | null {
    return this.pageAt(href) ?? this.locate(href, () => true);
  }

  followsLinksOf({ rootId }: Pick<ScopedPage, 'rootId'>): boolean {
    return this.sites.some(({ id, isOpen }) => id === rootId && isOpen);
  }

  /** Whether the page is the one that its site is named by. */
  isRoot({ rootId, url }: Pick<ScopedPage, 'rootId' | 'url'>): boolean {
    return this.sites.some((site) => site.id === rootId && site.url.href === url);
  }

  private locate(href: string, takes: (site: Site, url: string) => boolean): ScopedPage | null {
    const url = canonicalUrl(href, this.maxCharacters);
    if (!url) return null;
    for (const site of this.sites) {
      const inside = insideOf(site, url);
      if (!inside) continue;
      // What the inner one of nested sites leaves out, the outer one must not bring back.
      if (!takes(site, inside.href) || isExcluded(inside, site.excluded)) return null;
      return { url: inside.href, rootId: site.id, origin: inside.origin };
    }
    return null;
  }
}

function siteOf(root: WebsiteRoot): Site {
  const url = new URL(root.rootUrl);
  return {
    id: root.id,
    url,
    path: url.pathname,
    isOpen: followsLinks(root),
    selected: new Set(root.selectedUrls),
    excluded: new Set(root.excludedUrls.map((excluded) => exclusionKey(new URL(excluded)))),
  };
}

/** The address as the site has it, if it is inside: the root without its final slash is the root. */
function insideOf({ url: root, path }: Site, url: URL): URL | null {
  if (url.origin !== root.origin) return null;
  if (url.pathname.startsWith(path)) return url;
  if (`${url.pathname}/` !== path) return null;
  const withSlash = new URL(url);
  withSlash.pathname = path;
  return withSlash;
}

function exclusionKey({ pathname, search }: URL): string {
  return search === '' ? pathname.replace(/\/$/, '') : pathname + search;
}

/** By whole segments: `/private` has `/private/x` below it, not `/privately`. An exclusion with a query is that address alone. */
function isExcluded({ pathname, search }: URL, excluded: ReadonlySet<string>): boolean {
  if (excluded.size === 0) return false;
  if (excluded.has('') || (search !== '' && excluded.has(pathname + search))) return true;
  for (let end = pathname.indexOf('/', 1); end !== -1; end = pathname.indexOf('/', end + 1)) {
    if (excluded.has(pathname.slice(0, end))) return true;
  }
  return excluded.has(pathname);
}
