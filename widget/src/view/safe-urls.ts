const LINK_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tel:']);

/** The URL of a link, if its scheme is allowed; null for every other one, however it is spelled. */
export function safeLink(href: string): string | null {
  const url = parse(href);
  return url && LINK_SCHEMES.has(url.protocol) ? url.href : null;
}

/** The URL of an image, if its scheme is allowed. */
export function safeImage(src: string): URL | null {
  const url = parse(src);
  return url?.protocol === 'https:' ? url : null;
}

/** Only absolute URLs: a relative one would refer to the customer's page. */
function parse(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
