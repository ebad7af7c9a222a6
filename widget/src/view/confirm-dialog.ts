import { cover } from './cover.js';
import { button, make } from './dom.js';
import type { Strings } from './strings.js';

/** Asks whether to leave the conversation. Resolves with the visitor's answer; the caller moves the focus on. */
export function confirmNewConversation(panel: HTMLElement, strings: Strings): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (isSure: boolean): void => {
      uncover();
      resolve(isSure);
    };
    const cancel = button(strings.cancel, () => answer(false));
    const attributes = { role: 'alertdialog', 'aria-labelledby': 'question', 'aria-describedby': 'detail' };
    const dialog = make(
      'div',
      { className: 'dialog', attributes: { ...attributes, 'aria-modal': 'true' } },
      make('h2', { className: 'dialog-title', text: strings.newConversationQuestion, attributes: { id: 'question' } }),
      make('p', { className: 'dialog-text', text: strings.newConversationDetail, attributes: { id: 'detail' } }),
      make(
        'div',
        { className: 'dialog-buttons' },
        cancel,
        button(strings.newConversationStart, () => answer(true), { className: 'button primary' }),
      ),
    );
    const uncover = cover(panel, make('div', { className: 'cover' }, dialog), () => answer(false));
    cancel.focus();
  });
}
