import { make } from './dom.js';

let read: ((source: string) => string) | null = null;
let loading: Promise<void> | null = null;

/** A formula as a text that reads. It shows what was written while the reader of formulas loads, or if it cannot be loaded. */
export function formulaView(source: string, written: string): HTMLElement {
  const element = make('span', {
    className: 'math',
    text: read?.(source) ?? written,
    attributes: { dir: 'ltr', title: source.trim() },
  });
  if (!read) {
    void load().then(() => {
      if (read) element.textContent = read(source);
    });
  }
  return element;
}

/** Resolves when the formulas that are drawn read, or cannot. */
export function whenFormulasRead(): Promise<void> {
  return loading ?? Promise.resolve();
}

function load(): Promise<void> {
  loading ??= import('./math.js').then(
    ({ readFormula }) => {
      read = readFormula;
    },
    () => {
      loading = null;
    },
  );
  return loading;
}
