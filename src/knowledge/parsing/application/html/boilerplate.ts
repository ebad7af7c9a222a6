import { wordSet } from '../formats/clean-text.js';
import { type HtmlElement, type HtmlTree, textIn } from './html-tree.js';

/** A `main` with a smaller share of the page's sentences is only a part of the content. An article is often one of several. */
const MIN_SHARE = { main: 0.5, article: 0.8 } as const;
/** Most letters of a bar of links, which has little text besides. */
const MAX_BAR_LETTERS = 400;

const NAVIGATION_ROLES = new Set(['navigation', 'search', 'menu', 'menubar', 'tablist']);
/** Ids and classes of site generators and frameworks for elements that are never content. */
const NEVER = wordSet(
  'navheader navfooter sphinxsidebar breadcrumb breadcrumbs linenos linenodiv lineno blob-num gutter ' +
    'rouge-gutter viewcode-link mw-editsection',
);
/** Ids and classes of elements that are not content if they consist of links. */
const LINK_LISTS =
  /^(?:(?:main|top|site|page|sub|nav)[-_]?)?(?:nav|navbar|navigation|menu|sidebar|pager|pagination|related)$/;
const FOOTER = /^(?:(?:site|page|main|global)[-_]?)?(?:footer|colophon)$/;
const PERMALINK = /^(?:headerlink|permalink|hash-link|header-anchor|anchorjs-link)$/;
const CONSENT = /cookie|consent|gdpr|onetrust/;
const OVERLAY = /banner|bar|notice|popup|modal|overlay|dialog|consent|message|onetrust/;
const SKIP = /^(?:skip|jump) to|^zum (?:haupt)?inhalt/i;

type Found = Readonly<Record<'main' | 'article', { readonly element: HtmlElement; readonly sentences: number }[]>>;

interface Place {
  /** In `main` or an article, where a footer or an aside is part of the content. */
  readonly inContent: boolean;
  readonly inSection: boolean;
  readonly titles: number;
}

/** The elements with the page's content. Boilerplate in them is marked as left out. */
export function contentOf({ root }: HtmlTree): readonly HtmlElement[] {
  const found: Found = { main: [], article: [] };
  const all = mark(root, { inContent: false, inSection: false, titles: root.titles }, found);
  for (const kind of ['main', 'article'] as const) {
    const parts = found[kind];
    if (kind === 'article' && parts.length > 1) break;
    if (parts.reduce((sum, { sentences }) => sum + sentences, 0) >= Math.max(1, all * MIN_SHARE[kind]))
      return parts.map(({ element }) => element);
  }
  return [root];
}

/** @returns the number of letters of the content outside of links */
function mark(element: HtmlElement, place: Place, found: Found): number {
  let sentences = element.letters - element.linked;
  const kind =
    element.name === 'main' || element.role === 'main' ? 'main' : element.name === 'article' ? 'article' : undefined;
  const inner = {
    ...place,
    inContent: place.inContent || kind !== undefined,
    inSection: place.inSection || kind !== undefined || /^(?:section|aside)$/.test(element.name),
  };
  for (const child of element.elements) {
    child.isLeftOut ||= isBoilerplate(child, element, inner);
    sentences -= child.letters - child.linked;
    if (!child.isLeftOut) sentences += mark(child, inner, found);
  }
  if (kind && (kind === 'main' || !place.inContent)) found[kind].push({ element, sentences });
  return sentences;
}

function isBoilerplate(element: HtmlElement, parent: HtmlElement, place: Place): boolean {
  const { name, role } = element;
  if (name === 'body' || name === 'main' || role === 'main') return false;
  if (name === 'nav' || NAVIGATION_ROLES.has(role)) return true;
  if (name === 'a') return isPageControl(element, parent);
  return isPageFrame(element, place) || isLinkBar(element) || isOverlay(element, place) || isSearch(element);
}

/** A link to the previous or next page, a permalink or a skip link. */
function isPageControl(link: HtmlElement, parent: HtmlElement): boolean {
  const href = link.attributes['href'] ?? '';
  const isAlone = link.steps > 0 && !/^(?:p|li|td|dd|span|em|b)$/.test(parent.name);
  if (isAlone && (link.attributes['rel'] ?? link.attributes['class'])) return true;
  if (!href.includes('#') || link.letters > 60 || link.letters === 0) return false;
  if (link.letters <= 2 && /^[¶#§🔗]+$/u.test(textIn(link).trim())) return true;
  if (link.names.some((one) => PERMALINK.test(one)) && link.letters < parent.letters && link.letters <= 12) return true;
  return href.startsWith('#') && SKIP.test(textIn(link).trim());
}

function isPageFrame(element: HtmlElement, { inContent, inSection, titles }: Place): boolean {
  const { name, role, names } = element;
  if (names.some((one) => NEVER.has(one))) return true;
  if (inSection || inContent) return false;
  if (name === 'header' || role === 'banner') return element.titles === 0 || element.titles < titles;
  if (name === 'footer' || role === 'contentinfo') return true;
  if (name === 'aside' || role === 'complementary') return element.linked > element.letters / 2;
  return element.letters < 1_500 && names.some((one) => FOOTER.test(one));
}

function isLinkBar(element: HtmlElement): boolean {
  const { letters, linked, steps, names } = element;
  if (letters === 0) return false;
  if (linked >= letters / 2 && names.some((one) => LINK_LISTS.test(one))) return true;
  if (letters > MAX_BAR_LETTERS || element.parts > 0) return false;
  return (steps > 0 && linked >= letters * 0.7) || (steps > 1 && linked >= letters / 3);
}

/** Consent banners, dialogs with forms, and help about keyboard shortcuts. */
function isOverlay(element: HtmlElement, { inContent }: Place): boolean {
  const isDialog =
    element.name === 'dialog' ||
    /^(?:alert)?dialog$/.test(element.role) ||
    element.attributes['aria-modal'] !== undefined;
  const names = element.names.join(' ');
  if (element.letters > 3_000) return false;
  if (CONSENT.test(names) && (isDialog || (OVERLAY.test(names) && element.buttons > 0))) return true;
  if (/shortcut|keyboard|hotkey|help-(?:container|popup)/.test(names) && element.keys > 0 && (isDialog || !inContent))
    return true;
  if (!isDialog) return false;
  return element.fields > 0 || (element.buttons > 0 && asksForConsent(textIn(element)));
}

function asksForConsent(text: string): boolean {
  return /\bcookies?\b/i.test(text) && /\b(?:accept|agree|allow|akzeptieren|zustimmen|accepter|aceptar)/i.test(text);
}

function isSearch({ name, fields, letters, names }: HtmlElement): boolean {
  return name === 'form' && fields > 0 && letters < 200 && names.some((one) => one.includes('search'));
}
