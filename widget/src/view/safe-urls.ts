const LINK_SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tel:']);

/** What may be followed by a click; null for everything else, whatever way it is spelled. */
export function safeLink(href: string): string | null {
  const url = parse(href);
  return url && LINK_SCHEMES.has(url.protocol) ? url.href : null;
}

/** What may be fetched as a picture. */
export function safeImage(src: string): URL | null {
  const url = parse(src);
  return url?.protocol === 'https:' ? url : null;
}

/** Absolute addresses alone: what is relative would be one of the customer's page. */
function parse(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
