const LANGUAGE = ['lang', 'dir'];
const ATTRIBUTES = ['class', 'style', 'data-theme', ...LANGUAGE];

/** Calls back when the page or the system may have changed colours or language of the element. @returns ends it */
export function watchPage(
  element: HTMLElement,
  { onColors, onLanguage }: { readonly onColors: () => void; readonly onLanguage: () => void },
): () => void {
  const observer = new MutationObserver((changes) => {
    const isLanguage = (name: string | null): boolean => name !== null && LANGUAGE.includes(name);
    if (changes.some(({ attributeName }) => isLanguage(attributeName))) onLanguage();
    if (changes.some(({ attributeName }) => !isLanguage(attributeName))) onColors();
  });
  for (const node of ancestorsOf(element)) observer.observe(node, { attributeFilter: LANGUAGE });
  for (const node of [document.documentElement, document.body, element])
    observer.observe(node, { attributeFilter: ATTRIBUTES });
  const scheme = matchMedia('(prefers-color-scheme:dark)');
  scheme.addEventListener('change', onColors);
  return () => {
    observer.disconnect();
    scheme.removeEventListener('change', onColors);
  };
}

/** The ancestors of an element, closest first, through shadow trees. */
export function* ancestorsOf(element: Element): Generator<Element> {
  for (let node = parentOf(element); node; node = parentOf(node)) yield node;
}

function parentOf({ parentNode }: Element): Element | null {
  if (parentNode instanceof ShadowRoot) return parentNode.host;
  return parentNode instanceof Element ? parentNode : null;
}
