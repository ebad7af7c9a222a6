import { make } from './dom.js';
import { safeLink, undisclosedHost, withoutUsers } from './safe-urls.js';

/** A link that opens in a new tab; only its text, if it must not be followed. If the text names another host, the link also shows the real one. */
export function linkView(href: string, children: readonly (Node | string)[]): HTMLElement {
  const url = safeLink(href);
  if (!url) return make('span', {}, ...children);
  const link = make(
    'a',
    { attributes: { href: url.href, target: '_blank', rel: 'noopener noreferrer nofollow' } },
    ...children,
  );
  hideUsers(link);
  if (link.textContent === '') link.append(url.host);
  const host = undisclosedHost(link.textContent, url);
  if (host !== null)
    link.append(' ', make('span', { className: 'link-host', text: `(${host})`, attributes: { dir: 'ltr' } }));
  return link;
}

/** A user name before the host looks like a host itself. */
function hideUsers(link: Node): void {
  const texts: Text[] = [];
  const walker = document.createTreeWalker(link, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (walker.currentNode instanceof Text) texts.push(walker.currentNode);
  const kept = withoutUsers(texts.map(({ data }) => data));
  for (const [index, text] of texts.entries()) text.data = kept[index] ?? '';
}
