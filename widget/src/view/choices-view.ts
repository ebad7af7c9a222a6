import type { Choice, ComponentProps } from './component-props.js';
import type { ComponentView } from './component-view.js';
import { icon, ICONS, make } from './dom.js';
import type { ViewContext } from './view-context.js';

/** A question with buttons: the chosen one becomes the visitor's next message. */
export function choicesView(
  { question, choices, isList }: Extract<ComponentProps, { kind: 'choices' }>,
  { chat, strings }: ViewContext,
): ComponentView {
  const buttons = choices.map((choice) => choiceButton(choice, isList, () => void chat.send(choice.label)));
  const list = make('div', { className: isList ? 'choices options' : 'choices' }, ...buttons);
  moveByArrows(list, buttons);
  const element = make(
    'div',
    { className: 'component', attributes: { role: 'group', 'aria-label': question } },
    make('p', { className: 'question', text: question, attributes: { dir: 'auto' } }),
    list,
  );
  return {
    element,
    spoken: question,
    update: (isOpen, answer) => {
      const chosen = answer === null ? -1 : choices.findIndex(({ label }) => label === answer);
      element.classList.toggle('answered', answer !== null);
      buttons.forEach((each, index) => {
        const isChosen = index === chosen;
        // Disabling the button would take the focus from the visitor who has just pressed it.
        each.setAttribute('aria-disabled', String(!isOpen));
        each.classList.toggle('chosen', isChosen);
        if (isChosen) each.setAttribute('aria-description', strings.chosen);
        else each.removeAttribute('aria-description');
      });
      if (buttons[chosen]) makeReachable(buttons, buttons[chosen]);
    },
  };
}

function choiceButton({ label, description }: Choice, isList: boolean, choose: () => void): HTMLButtonElement {
  const made = make(
    'button',
    { className: 'choice', attributes: { type: 'button', dir: 'auto' } },
    make('span', { className: isList ? 'mark radio' : 'mark' }, icon(ICONS.check)),
    make(
      'span',
      { className: 'choice-text' },
      make('span', { text: label }),
      description !== undefined && make('small', { text: description }),
    ),
  );
  made.addEventListener('click', () => {
    if (made.getAttribute('aria-disabled') !== 'true') choose();
  });
  return made;
}

/** The group is one stop of the Tab key; arrow keys, Home and End move within it. */
function moveByArrows(list: HTMLElement, buttons: readonly HTMLButtonElement[]): void {
  makeReachable(buttons, buttons[0]);
  list.addEventListener('keydown', (event) => {
    const at = buttons.findIndex((each) => each === event.target);
    const to = at < 0 ? null : targetOf(event.key, at, buttons.length, list.matches(':dir(rtl)'));
    if (to === null || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    makeReachable(buttons, buttons[to]);
    buttons[to]?.focus();
  });
}

function makeReachable(buttons: readonly HTMLButtonElement[], reachable: HTMLButtonElement | undefined): void {
  for (const each of buttons) each.tabIndex = each === reachable ? 0 : -1;
}

/** The index that a key moves to; null for other keys. */
function targetOf(key: string, at: number, count: number, isRightToLeft: boolean): number | null {
  const next = (at + 1) % count;
  const previous = (at + count - 1) % count;
  switch (key) {
    case 'ArrowDown':
      return next;
    case 'ArrowUp':
      return previous;
    case 'ArrowRight':
      return isRightToLeft ? previous : next;
    case 'ArrowLeft':
      return isRightToLeft ? next : previous;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}
