/** Debian's documentation packages that make the corpus. This repository contains none of their text. */

/** An element, as far as the rules below need it. */
export interface Seen {
  readonly tag: string;
  readonly id: string;
  readonly classes: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
}
export type Rule = (element: Seen) => boolean;

/** The main content of the pages of this package, determined by looking at them, independently of the service's reader. */
export interface PageRules {
  readonly main: Rule;
  /** Within it: what is on every page of the site. */
  readonly boilerplate: Rule;
  /** Within it: tables of contents and the like, which may be in a chunk or not. */
  readonly neutral: Rule;
}

export interface Package {
  readonly name: string;
  readonly language: string;
  /** The folder of the files; only this is unpacked. */
  readonly folder: string;
  /** Paths below `folder` that belong to the corpus. */
  readonly taken: RegExp;
  readonly left?: RegExp;
  /** Number of pages for the coverage, evenly spread; 0 for packages without HTML. */
  readonly covered: number;
  readonly rules: PageRules;
}

const none: Rule = () => false;
const tag =
  (name: string): Rule =>
  (element) =>
    element.tag === name;
const id =
  (...names: readonly string[]): Rule =>
  (element) =>
    names.includes(element.id);
const classed =
  (...names: readonly string[]): Rule =>
  (element) =>
    names.some((name) => element.classes.includes(name));
const either =
  (...rules: readonly Rule[]): Rule =>
  (element) =>
    rules.some((rule) => rule(element));

const DOCBOOK: PageRules = {
  main: tag('body'),
  boilerplate: classed('navheader', 'navfooter'),
  neutral: classed('toc', 'titlepage'),
};
const SPHINX: PageRules = {
  main: (element) => element.attributes['role'] === 'main' && element.classes.includes('body'),
  boilerplate: classed('headerlink', 'viewcode-link'),
  neutral: classed('contents'),
};
const ASCIIDOC: PageRules = { main: tag('body'), boilerplate: id('footer'), neutral: id('toc', 'header') };
const SQLITE: PageRules = {
  main: tag('body'),
  boilerplate: either(
    classed('nosearch'),
    (element) => element.tag === 'p' && element.attributes['align'] === 'center',
  ),
  neutral: either(classed('fancy_title', 'fancy_toc'), tag('svg')),
};
const MDBOOK: PageRules = { main: tag('main'), boilerplate: none, neutral: none };
const EXIM: PageRules = {
  main: id('content'),
  boilerplate: classed('previous_page', 'next_page', 'toc_page'),
  neutral: none,
};
const POSTFIX: PageRules = { main: tag('body'), boilerplate: none, neutral: none };

/** Lists of names without sentences, script-made searches, and whole books on one page. */
const INDEXES =
  /(?:^|\/)(?:genindex|py-modindex|search|bookindex|print|developers-reference|ch-(?:concept|options|variables)_index)\.html$/;

function pages(
  name: string,
  language: string,
  folder: string,
  covered: number,
  rules: PageRules,
  more: Partial<Package> = {},
): Package {
  return { name, language, folder, covered, rules, taken: /^[^/]+\.html$/, left: INDEXES, ...more };
}

function files(name: string, language: string, folder: string, taken: RegExp): Package {
  return { name, language, folder, taken, covered: 0, rules: DOCBOOK };
}

export const PACKAGES: readonly Package[] = [
  pages('postgresql-doc-15', 'en', 'usr/share/doc/postgresql-doc-15/html', 82, DOCBOOK),
  pages('python-flask-doc', 'en', 'usr/share/doc/python-flask-doc/html', 32, SPHINX, { taken: /^(?!_)[^.]+\.html$/ }),
  pages('rust-doc', 'en', 'usr/share/doc/rust-doc/html/book', 40, MDBOOK, {
    taken: /^(?:ch\d\d|appendix-0|foreword|title)[^/]*\.html$/,
  }),
  pages('git-doc', 'en', 'usr/share/doc/git-doc', 32, ASCIIDOC, { taken: /^git(?!web|-p4)[^/]*\.html$/ }),
  pages('sqlite3-doc', 'en', 'usr/share/doc/sqlite3', 26, SQLITE, {
    left: /^(?:requirements|doc_.*|keyword_index|syntaxdiagrams|hlr.*|sitemap|docs|changes|news|chronology|capi3ref|lang_select|toc_db|search.*)\.html$/,
  }),
  pages('postfix-doc', 'en', 'usr/share/doc/postfix/html', 12, POSTFIX, { taken: /^[A-Z_]+_README\.html$/ }),
  pages('exim4-doc-html', 'en', 'usr/share/doc/exim4-doc-html/spec_html', 12, EXIM, { taken: /^ch-[^/]+\.html$/ }),
  pages('debian-faq', 'en', 'usr/share/doc/debian/FAQ', 6, DOCBOOK, { taken: /^[^/]+\.en\.html$/ }),
  pages('debian-faq-de', 'de', 'usr/share/doc/debian/FAQ/de', 6, DOCBOOK),
  pages('debian-faq-ja', 'ja', 'usr/share/doc/debian/FAQ/ja', 6, DOCBOOK),
  pages('debian-faq-zh-cn', 'zh', 'usr/share/doc/debian/FAQ/zh-cn', 6, DOCBOOK),
  pages('debian-faq-ru', 'ru', 'usr/share/doc/debian/FAQ/ru', 6, DOCBOOK),
  pages('debian-reference-de', 'de', 'usr/share/debian-reference', 8, DOCBOOK),
  pages('debian-reference-ja', 'ja', 'usr/share/debian-reference', 8, DOCBOOK),
  pages('debian-reference-zh-cn', 'zh', 'usr/share/debian-reference', 8, DOCBOOK),
  pages('developers-reference-ja', 'ja', 'usr/share/developers-reference/ja', 10, SPHINX),
  files('developers-reference-de', 'de', 'usr/share/developers-reference/de', /^[^/]+\.pdf$/),
  files('maint-guide-zh-cn', 'zh', 'usr/share/doc/maint-guide-zh-cn', /\.pdf$/),
  files('debian-faq-fr', 'fr', 'usr/share/doc/debian/FAQ', /\.fr\.pdf\.gz$/),
  files('debian-policy', 'en', 'usr/share/doc/debian-policy', /^policy\.txt\.gz$/),
];

/** Documents of this repository's dependencies, from its `node_modules`. */
export const MARKDOWN_OF_MODULES = ['bullmq', 'fastify', 'htmlparser2', 'ioredis', 'pino', 'semver', 'undici'] as const;
