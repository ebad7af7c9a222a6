import type { RawBlock } from './markdown-blocks.js';

/** Drawing that pauses after each small part. */
export type Work = Generator<undefined, void, undefined>;

export interface BlockView {
  readonly element: HTMLElement;
  /** Draws the content. Absent if another content needs another view. */
  readonly update?: (block: RawBlock) => Work;
}

/** The drawn blocks of a container. Unchanged blocks keep their elements, and so selection and focus. */
export class Children {
  private readonly container: HTMLElement;
  private readonly draw: (block: RawBlock) => BlockView;
  private readonly drawn: { block: RawBlock; view: BlockView; isComplete: boolean }[] = [];

  constructor(container: HTMLElement, draw: (block: RawBlock) => BlockView) {
    this.container = container;
    this.draw = draw;
  }

  /** May be given up at any pause: the next update completes it. */
  *update(blocks: readonly RawBlock[]): Work {
    for (const [index, block] of blocks.entries()) {
      let entry = this.drawn[index];
      if (entry?.isComplete === true && isSame(entry.block, block)) continue;
      if (!entry?.view.update || !isAlike(entry.block, block)) {
        const view = this.draw(block);
        if (entry) entry.view.element.replaceWith(view.element);
        else this.container.append(view.element);
        entry = { block, view, isComplete: false };
        this.drawn[index] = entry;
      }
      entry.isComplete = false;
      if (entry.view.update) yield* entry.view.update(block);
      Object.assign(entry, { block, isComplete: true });
      yield;
    }
    for (const { view } of this.drawn.splice(blocks.length)) view.element.remove();
  }
}

function isAlike(one: RawBlock, other: RawBlock): boolean {
  return one.kind === other.kind && one.variant === other.variant;
}

function isSame(one: RawBlock, other: RawBlock): boolean {
  return (
    one === other ||
    (isAlike(one, other) &&
      one.lines.length === other.lines.length &&
      one.lines.every((line, index) => line === other.lines[index]))
  );
}

/** Makes content that is wider than the widget scrollable, also with the keyboard. */
export function scrollable(label: string): Record<string, string> {
  return { tabindex: '0', role: 'group', 'aria-label': label };
}
