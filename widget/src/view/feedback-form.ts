import { button, make } from './dom.js';
import type { ViewContext } from './view-context.js';

export interface FeedbackFormOptions {
  /** @returns whether the comment was stored */
  readonly send: (comment: string) => Promise<boolean>;
  readonly onSent: () => void;
  readonly onClose: () => void;
}

/** Asks what could be better. The rating is stored already; the comment is optional. */
export function feedbackForm({ strings, announce }: ViewContext, options: FeedbackFormOptions): HTMLElement {
  const { feedback, feedbackPlaceholder } = strings;
  const input = make('textarea', {
    className: 'feedback-input',
    attributes: { rows: '2', 'aria-label': feedback, placeholder: feedbackPlaceholder, maxlength: '2000', dir: 'auto' },
  });
  const problem = make('p', { className: 'note', text: strings.failedFeedback });
  problem.hidden = true;
  let isSending = false;
  const submit = async (): Promise<void> => {
    const comment = input.value.trim();
    if (isSending) return;
    if (comment === '') {
      options.onClose();
      return;
    }
    isSending = true;
    problem.hidden = true;
    const isStored = await options.send(comment);
    isSending = false;
    if (isStored) options.onSent();
    else {
      problem.hidden = false;
      announce(strings.failedFeedback);
    }
  };
  const send = button(strings.feedbackSend, () => void submit(), { className: 'button primary' });
  const cancel = button(strings.cancel, options.onClose);
  // A form element would submit to the page, which its policy may report as a violation.
  const form = make(
    'div',
    { className: 'feedback', attributes: { role: 'group', 'aria-label': feedback } },
    make('p', { className: 'feedback-title', text: feedback }),
    input,
    problem,
    make('div', { className: 'feedback-buttons' }, send, cancel),
  );
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.isComposing) return;
    // The same key would close the whole chat.
    event.stopPropagation();
    options.onClose();
  });
  return form;
}
