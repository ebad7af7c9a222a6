import type { Approval, ChatState } from '../client/chat-state.js';
import { button, make } from './dom.js';
import { fill, toolLabel } from './strings.js';
import type { ViewContext } from './view-context.js';

/** Asks about each call; the last answer sends all answers. */
export class ApprovalsView {
  readonly element = make('div', { className: 'approvals' });
  private readonly context: ViewContext;
  private shown: readonly Approval[] = [];
  private decisions = new Map<string, { readonly approved: boolean }>();

  constructor(context: ViewContext) {
    this.context = context;
  }

  update({ approvals }: ChatState): void {
    if (approvals === this.shown) return;
    this.shown = approvals;
    this.decisions = new Map();
    this.element.replaceChildren(...approvals.map((approval) => this.ask(approval)));
    if (approvals.length > 0) this.context.announce(approvals.map((each) => this.question(each)).join(' '));
  }

  private question({ tool }: Approval): string {
    return fill(this.context.strings.approvalNeeded, { tool: toolLabel(tool) });
  }

  private ask(approval: Approval): HTMLElement {
    const { strings } = this.context;
    const question = this.question(approval);
    const buttons = [
      button(strings.approve, () => this.decide(approval, true, buttons), { className: 'button primary' }),
      button(strings.decline, () => this.decide(approval, false, buttons)),
    ];
    const input = make('pre', {
      text: JSON.stringify(approval.input ?? {}, null, 2),
      attributes: { tabindex: '0', role: 'group', 'aria-label': strings.toolInput },
    });
    return make(
      'div',
      { className: 'component approval', attributes: { role: 'group', 'aria-label': question } },
      make('p', { className: 'question', text: question }),
      input,
      make('div', { className: 'choices' }, ...buttons),
    );
  }

  private decide({ interruptId }: Approval, approved: boolean, buttons: readonly HTMLButtonElement[]): void {
    this.decisions.set(interruptId, { approved });
    buttons.forEach((each, index) => {
      const isChosen = (index === 0) === approved;
      each.setAttribute('aria-pressed', String(isChosen));
      each.classList.toggle('chosen', isChosen);
    });
    if (this.decisions.size === this.shown.length) void this.context.chat.answer(this.decisions);
  }
}
