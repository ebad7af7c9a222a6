const LINK_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tel:']);
/** A host with letters or numbers of any script, and the path after it. */
const HOST =
  /(?:[\p{L}\p{M}\p{N}_-]{1,63}[.\u3002\uff0e\uff61\u2024]){1,10}[\p{L}\p{M}\p{N}-]{1,63}(?::\d{1,5})?(?:[/?#\\]\S*)?/gu;
/** What browsers read as a dot in a host. */
const OTHER_DOTS = /[\u3002\uff0e\uff61\u2024]/g;
/** Its last part is a name, or it is an IPv4 address. */
const HAS_NAME = /[.][^.]*\p{L}[^.]+$|^\d{1,3}(?:\.\d{1,3}){3}$/u;
/** Characters that a reader does not see. */
const INVISIBLE = /\p{Cf}/gu;
const USER = /(:\/\/)[^\s/?#\\]*@/g;

/** The URL of a link, if its scheme is allowed; null for every other one, however it is spelled. It carries no user name. */
export function safeLink(href: string): URL | null {
  const url = parse(href);
  return url && LINK_SCHEMES.has(url.protocol) ? url : null;
}

/** The URL of an image, if its scheme is allowed. It carries no user name. */
export function safeImage(src: string): URL | null {
  const url = parse(src);
  return url?.protocol === 'https:' ? url : null;
}

/** Consecutive parts of a text without the user names and passwords of the URLs in it, which may span parts. */
export function withoutUsers(parts: readonly string[]): string[] {
  const marked = parts
    .join('')
    .replace(USER, (whole, scheme: string) => scheme + '\0'.repeat(whole.length - scheme.length));
  let at = 0;
  return parts.map(({ length }) => marked.slice(at, (at += length)).replaceAll('\0', ''));
}

/**
 * The host to which a link leads, if its text names another one, or writes this one in letters that look like those of another.
 *
 * @returns the host in ASCII, with its port; null if the text does not mislead
 */
export function undisclosedHost(text: string, { protocol, host, hostname }: URL): string | null {
  if (protocol !== 'http:' && protocol !== 'https:') return null;
  const claims = (text.replace(INVISIBLE, '').match(HOST) ?? [])
    .map((written) => (written.split(/[/?#\\:]/, 1)[0] ?? '').replace(OTHER_DOTS, '.'))
    .filter((written) => HAS_NAME.test(written))
    .map((written) => parse(`https://${written}`)?.hostname ?? written);
  if (claims.length === 0) return null;
  const own = withoutWww(hostname);
  const isOwn = claims.every((claimed) => withoutWww(claimed) === own);
  return isOwn && !hostname.includes('xn--') ? null : host;
}

function withoutWww(host: string): string {
  return host.replace(/^www\./, '');
}

/** Only absolute URLs: a relative one would refer to the customer's page. */
function parse(text: string): URL | null {
  try {
    const url = new URL(text);
    url.username = '';
    url.password = '';
    return url;
  } catch {
    return null;
  }
}
