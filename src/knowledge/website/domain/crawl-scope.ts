import { followsLinks, type WebsiteRoot } from './website-root.js';
import { canonicalUrl } from './website-url.js';

export interface ScopedPage {
  readonly url: string;
  readonly rootId: string;
  readonly origin: string;
}

interface Site {
  readonly id: string;
  readonly url: URL;
  /** The root's links are followed. */
  readonly isOpen: boolean;
  readonly selected: ReadonlySet<string>;
  /** Paths without a final slash, and paths with a query. */
  readonly excluded: ReadonlySet<string>;
}

/** Which addresses belong to an agent's sites, and to which one. Of nested sites a page belongs to the inner one. */
export class CrawlScope {
  private readonly sites: readonly Site[];

  constructor(roots: readonly WebsiteRoot[]) {
    this.sites = roots.map(toSite).sort((left, right) => right.url.pathname.length - left.url.pathname.length);
  }

  get origins(): readonly string[] {
    return [...new Set(this.sites.map(({ url }) => url.origin))];
  }

  /** Origins of the sites whose links are followed. Only their sitemaps are read. */
  get openOrigins(): readonly string[] {
    return [...new Set(this.sites.filter(({ isOpen }) => isOpen).map(({ url }) => url.origin))];
  }

  /** The pages that the crawl begins with. */
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

  /** The page that a link leads to, where the crawl may follow it: inside a site whose links are followed, or a selected page. */
  pageAt(href: string): ScopedPage | null {
    return this.locate(href, (site, url) => site.isOpen || site.selected.has(url));
  }

  /** The page that a redirect leads to: anywhere inside a site. */
  targetAt(href: string): ScopedPage | null {
    return this.pageAt(href) ?? this.locate(href, () => true);
  }

  followsLinksOf({ rootId }: Pick<ScopedPage, 'rootId'>): boolean {
    return this.sites.some(({ id, isOpen }) => id === rootId && isOpen);
  }

  isRoot({ rootId, url }: Pick<ScopedPage, 'rootId' | 'url'>): boolean {
    return this.sites.some((site) => site.id === rootId && site.url.href === url);
  }

  private locate(href: string, takes: (site: Site, url: string) => boolean): ScopedPage | null {
    const url = canonicalUrl(href);
    if (!url) return null;
    for (const site of this.sites) {
      const inside = addressInside(site, url);
      if (!inside) continue;
      // The outer one of nested sites must not include what the inner one excludes.
      if (!takes(site, inside.href) || isExcluded(inside, site.excluded)) return null;
      return { url: inside.href, rootId: site.id, origin: inside.origin };
    }
    return null;
  }
}

function toSite(root: WebsiteRoot): Site {
  const url = new URL(root.rootUrl);
  return {
    id: root.id,
    url,
    isOpen: followsLinks(root),
    selected: new Set(root.selectedUrls),
    excluded: new Set(root.excludedUrls.map((excluded) => exclusionKey(new URL(excluded)))),
  };
}

/** The address, if it is inside the site. The root without its final slash counts as the root. */
function addressInside({ url: root }: Site, url: URL): URL | null {
  if (url.origin !== root.origin) return null;
  if (url.pathname.startsWith(root.pathname)) return url;
  if (`${url.pathname}/` !== root.pathname) return null;
  const withSlash = new URL(url);
  withSlash.pathname = root.pathname;
  return withSlash;
}

function exclusionKey({ pathname, search }: URL): string {
  return search === '' ? pathname.replace(/\/$/, '') : pathname + search;
}

/** By whole segments: `/private` excludes `/private/x` and not `/privately`. An exclusion with a query excludes that address only. */
function isExcluded({ pathname, search }: URL, excluded: ReadonlySet<string>): boolean {
  if (excluded.size === 0) return false;
  if (excluded.has('') || (search !== '' && excluded.has(pathname + search))) return true;
  for (let end = pathname.indexOf('/', 1); end !== -1; end = pathname.indexOf('/', end + 1)) {
    if (excluded.has(pathname.slice(0, end))) return true;
  }
  return excluded.has(pathname);
}
