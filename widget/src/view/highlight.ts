import type { RootContent } from 'hast';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import graphql from 'highlight.js/lib/languages/graphql';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import lua from 'highlight.js/lib/languages/lua';
import makefile from 'highlight.js/lib/languages/makefile';
import markdown from 'highlight.js/lib/languages/markdown';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import scss from 'highlight.js/lib/languages/scss';
import shell from 'highlight.js/lib/languages/shell';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';
import { HIGHLIGHT_STYLES } from './highlight-styles.js';

/** Deeper ones are drawn flat: hostile code nests without end. */
const MAX_DEPTH = 16;
const FIRST_PART = 2_500;
/** The double of a part takes at most four times as long. */
const MAX_PART_MS = 12;

const lowlight = createLowlight({
  ...{ bash, c, cpp, csharp, css, diff, dockerfile, go, graphql, ini, java, javascript, json, kotlin },
  ...{ lua, makefile, markdown, php, python, ruby, rust, scss, shell, sql, swift, typescript, xml, yaml },
});

export function isRegistered(language: string): boolean {
  return lowlight.registered(language);
}

export function treeOf(text: string, language: string): readonly RootContent[] {
  return lowlight.highlight(language.toLowerCase(), text, { prefix: 'hl-' }).children;
}

/**
 * Colours a code element, and gives the colours to the shadow root around it. Tries a growing part of the code first, each in a task of its
 * own, because some code takes quadratic time: such code remains without colours.
 *
 * @param language one of `HIGHLIGHTED`
 */
export async function highlight(code: HTMLElement, language: string): Promise<void> {
  const text = code.textContent;
  for (let length = FIRST_PART; length < text.length; length *= 2) {
    await nextTask();
    const start = performance.now();
    treeOf(text.slice(0, length), language);
    if (performance.now() - start > MAX_PART_MS) return;
  }
  await nextTask();
  const root = code.getRootNode();
  // A block that was drawn again since has its own turn.
  if (!(root instanceof ShadowRoot) || code.textContent !== text) return;
  if (!root.adoptedStyleSheets.includes(styles())) root.adoptedStyleSheets.push(styles());
  const fragment = document.createDocumentFragment();
  append(fragment, treeOf(text, language), 0);
  code.replaceChildren(fragment);
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve);
  });
}

let sheet: CSSStyleSheet | null = null;

function styles(): CSSStyleSheet {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(HIGHLIGHT_STYLES);
  }
  return sheet;
}

function append(parent: Node, contents: readonly RootContent[], depth: number): void {
  for (const content of contents) {
    if (content.type === 'text') parent.appendChild(document.createTextNode(content.value));
    if (content.type !== 'element') continue;
    if (depth >= MAX_DEPTH) {
      append(parent, content.children, depth);
      continue;
    }
    const span = document.createElement('span');
    const { className } = content.properties;
    if (Array.isArray(className)) span.className = className.join(' ');
    append(parent.appendChild(span), content.children, depth + 1);
  }
}
