import { MAX_URL_CHARACTERS } from '../limits.js';

/** Characters that mean the same with and without percent-encoding (RFC 3986, section 2.3). */
const UNRESERVED = /^[A-Za-z0-9\-._~]$/;
const ESCAPE = /%([0-9a-f]{2})/gi;
const ENCODED_SEPARATOR = /%(?:2f|5c)/i;

/**
 * One spelling for all addresses of one page: no fragment, lower-case host, no default port, dot segments resolved, escapes in
 * upper case and only where they are needed. The query stays, because it may select another page.
 * @returns null for text that is too long or not an http or https URL, has a user name or password, or has encoded dot segments:
 * a server that decodes `%2f` before it resolves `..` would leave the path
 */
export function canonicalUrl(text: string): URL | null {
  if (text.length > MAX_URL_CHARACTERS) return null;
  const parsed = URL.parse(text);
  if (!parsed || !isWeb(parsed) || parsed.username !== '' || parsed.password !== '') return null;
  parsed.hash = '';
  // The assignment drops the question mark of an empty query.
  if (parsed.search === '') parsed.search = '';
  const url = parsed.href.includes('%') ? URL.parse(withPlainEscapes(parsed.href)) : parsed;
  if (!url || url.href.length > MAX_URL_CHARACTERS || hasEncodedDotSegments(url.pathname)) return null;
  // A host with a final dot is the same host.
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  return url.hostname === '' ? null : url;
}

/** As `canonicalUrl`, with a slash at the end of the path: a site's root with and without it is one. */
export function canonicalRoot(text: string): URL | null {
  const url = canonicalUrl(text);
  if (url && !url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

/** The address of a root before a slash was added; null for the root of its host. */
export function withoutFinalSlash(href: string): string | null {
  const url = new URL(href);
  if (url.pathname === '/') return null;
  url.pathname = url.pathname.replace(/\/$/, '');
  return url.href;
}

function isWeb({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:';
}

function withPlainEscapes(href: string): string {
  return href.replace(ESCAPE, (escape, digits: string) => {
    const character = String.fromCharCode(Number.parseInt(digits, 16));
    return UNRESERVED.test(character) ? character : escape.toUpperCase();
  });
}

function hasEncodedDotSegments(path: string): boolean {
  if (!ENCODED_SEPARATOR.test(path)) return false;
  return path.split(/\/|%2f|%5c/i).some((segment) => segment === '..' || segment === '.');
}
