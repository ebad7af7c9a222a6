import { SaxesParser } from 'saxes';
import { MAX_LOCATION_LENGTH, MAX_XML_ATTRIBUTES, MAX_XML_DEPTH, MAX_XML_ERRORS } from '../limits.js';

/** What a sitemap lists, in its order: pages, or further sitemaps. */
export interface Location {
  readonly kind: 'page' | 'sitemap';
  readonly text: string;
}

/** Reads a sitemap piece by piece. What was listed before a mistake counts. */
export abstract class SitemapReader {
  protected found: Location[] = [];
  /** Nothing further will be found: the document is none, or ended. */
  over = false;

  abstract write(text: string): void;
  abstract end(): void;

  /** Found since the last call. */
  take(): readonly Location[] {
    return this.found.splice(0);
  }
}

/** One URL a line. */
export class TextSitemapReader extends SitemapReader {
  private rest = '';

  write(text: string): void {
    const lines = (this.rest + text).split(/\r\n|\r|\n/);
    this.rest = lines.pop() ?? '';
    for (const line of lines) this.line(line);
    // A text without lines is no sitemap.
    this.over = this.rest.length > MAX_LOCATION_LENGTH;
  }

  end(): void {
    if (!this.over) this.line(this.rest);
    this.rest = '';
  }

  private line(line: string): void {
    const text = line.trim();
    if (text !== '' && text.length <= MAX_LOCATION_LENGTH) this.found.push({ kind: 'page', text });
  }
}

/** As it stands in addresses: the usual mistake, for which the parser would look for the end of an entity. */
const STRAY_AMPERSAND = /&(?!#?\w{1,10};)/g;

/** Ends the parser from within one of its events. */
class NoSitemap extends Error {}

/**
 * `urlset` and `sitemapindex`. The parser resolves no entities but XML's own five and reads no declarations, so neither can a
 * document reach for files nor grow; what it holds in memory is bounded by depth and attributes.
 */
export class XmlSitemapReader extends SitemapReader {
  private readonly parser = new SaxesParser();
  private readonly open: string[] = [];
  private location: string | null = null;
  private attributes = 0;
  private errors = 0;
  /** The last piece's end, where it may be the beginning of an entity. */
  private rest = '';

  constructor() {
    super();
    this.parser.on('opentagstart', ({ name }) => this.opened(name));
    this.parser.on('attribute', () => this.bounded((this.attributes += 1), MAX_XML_ATTRIBUTES));
    this.parser.on('closetag', () => this.closed());
    this.parser.on('text', (text) => this.text(text));
    this.parser.on('cdata', (text) => this.text(text.replaceAll('&amp;', '&')));
    this.parser.on('error', () => this.bounded((this.errors += 1), MAX_XML_ERRORS));
  }

  write(text: string): void {
    const joined = this.rest + text;
    this.rest = /&#?\w{0,10}$/.exec(joined)?.[0] ?? '';
    const whole = joined.slice(0, joined.length - this.rest.length);
    this.guarded(() => this.parser.write(whole.replace(STRAY_AMPERSAND, '&amp;')));
  }

  end(): void {
    this.guarded(() => this.parser.close());
    this.over = true;
  }

  private guarded(work: () => unknown): void {
    if (this.over) return;
    try {
      work();
    } catch (error) {
      this.over = true;
      if (!(error instanceof NoSitemap)) throw error;
    }
  }

  private bounded(count: number, most: number): void {
    if (count > most) throw new NoSitemap();
  }

  private opened(name: string): void {
    this.attributes = 0;
    this.open.push(localName(name));
    this.bounded(this.open.length, MAX_XML_DEPTH);
    this.location = this.isLocation() ? '' : null;
  }

  private text(text: string): void {
    if (this.location !== null && this.location.length <= MAX_LOCATION_LENGTH) this.location += text.slice(0, MAX_LOCATION_LENGTH + 1);
  }

  private closed(): void {
    const text = this.location?.trim() ?? '';
    if (this.isLocation() && text !== '' && text.length <= MAX_LOCATION_LENGTH) {
      this.found.push({ kind: this.open.at(-2) === 'sitemap' ? 'sitemap' : 'page', text });
    }
    this.location = null;
    this.open.pop();
  }

  /** Images and videos of a page have locations too, in elements of their own. */
  private isLocation(): boolean {
    const [parent, name] = this.open.slice(-2);
    return name === 'loc' && (parent === 'url' || parent === 'sitemap');
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}
