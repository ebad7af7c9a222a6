import type { PageBlock } from './page-blocks.js';

/** Variables that the commands of a page use, such as `AGENT`. */
export type Variables = Record<string, string>;

const VARIABLE = /\$([A-Z][A-Z_0-9]*)/g;
/** In a shown text: what it leaves out. */
const LEFT_OUT = '…';

/**
 * Compares what commands printed with the answers that the page shows for them. A shown answer may leave out fields and
 * list entries, and parts of a text where it has `…`. A text that is `$NAME` gives the variable its value where it has none yet.
 * @returns what differs, or undefined
 */
export function differenceOf(output: string, shown: readonly PageBlock[], variables: Variables): string | undefined {
  let answers = output.split('\n').flatMap(readJson);
  for (const { language, text, line } of shown) {
    if (language === 'text') {
      if (!patternOf(text.trim(), variables).test(output)) return `line ${line}: the output differs:\n${output}`;
      continue;
    }
    const expected: unknown = JSON.parse(text);
    const found = answers.findIndex((answer) => isShownBy(expected, answer, { ...variables }));
    if (found === -1) return `line ${line}: no answer is as shown:\n${output}`;
    isShownBy(expected, answers[found], variables);
    answers = answers.slice(found + 1);
  }
  return undefined;
}

/** A line that is JSON, or one event of a stream. */
function readJson(line: string): unknown[] {
  try {
    return [JSON.parse(line.replace(/^data: /, ''))];
  } catch {
    return [];
  }
}

function isShownBy(shown: unknown, actual: unknown, variables: Variables): boolean {
  if (typeof shown === 'string') return typeof actual === 'string' && isTextShownBy(shown, actual, variables);
  if (typeof shown !== 'object' || shown === null) return shown === actual;
  if (typeof actual !== 'object' || actual === null || Array.isArray(shown) !== Array.isArray(actual)) return false;
  if (Array.isArray(shown)) return areEntriesShownBy(shown, actual as unknown[], variables);
  return Object.entries(shown).every(([name, value]) =>
    isShownBy(value, (actual as Record<string, unknown>)[name], variables),
  );
}

/** The shown entries occur in this order; an empty list shows that there is none. */
function areEntriesShownBy(shown: readonly unknown[], actual: readonly unknown[], variables: Variables): boolean {
  if (shown.length === 0) return actual.length === 0;
  let next = 0;
  return shown.every((entry) => {
    const found = actual.findIndex((one, index) => index >= next && isShownBy(entry, one, variables));
    next = found + 1;
    return found !== -1;
  });
}

function isTextShownBy(shown: string, actual: string, variables: Variables): boolean {
  const [whole, name] = /^\$([A-Z][A-Z_0-9]*)$/.exec(shown) ?? [];
  if (whole !== undefined && name !== undefined && variables[name] === undefined) {
    variables[name] = actual;
    return true;
  }
  return new RegExp(`^(?:${patternOf(shown, variables).source})$`, 's').test(actual);
}

function patternOf(shown: string, variables: Variables): RegExp {
  const filled = shown.replace(VARIABLE, (whole, name: string) => variables[name] ?? whole);
  return new RegExp(filled.split(LEFT_OUT).map(escaped).join('.*?'), 's');
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
