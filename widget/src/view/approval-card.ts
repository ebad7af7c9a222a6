import type { Approval, Chat, ChatState } from '../client/chat-state.js';
import { ArgumentTable } from './argument-table.js';
import { button, icon, make } from './dom.js';
import { MESSAGE_ICONS } from './message-icons.js';
import { fill, type Strings, toolLabel } from './strings.js';
import type { ViewContext } from './view-context.js';
import { visibleText } from './visible-text.js';

const desks = new WeakMap<Chat, ApprovalDesk>();

/** The desk of a chat. It outlives the view, which is drawn again in another language. */
export function approvalDesk(chat: Chat): ApprovalDesk {
  const desk = desks.get(chat) ?? new ApprovalDesk(chat);
  desks.set(chat, desk);
  return desk;
}

/** Collects the visitor's decisions, and sends all of them with the last one. */
export class ApprovalDesk {
  private readonly chat: Chat;
  private asked: readonly Approval[] = [];
  private decisions = new Map<string, { readonly approved: boolean }>();

  constructor(chat: Chat) {
    this.chat = chat;
  }

  update({ approvals }: Pick<ChatState, 'approvals'>): void {
    if (approvals === this.asked) return;
    this.asked = approvals;
    // Answers that the service did not get are asked for again.
    if (approvals.length > 0) this.decisions = new Map();
  }

  /** Undefined while the visitor has not decided. */
  decisionOn(interruptId: string): boolean | undefined {
    return this.decisions.get(interruptId)?.approved;
  }

  decide(interruptId: string, approved: boolean): void {
    this.decisions.set(interruptId, { approved });
    if (this.asked.length > 0 && this.asked.every((each) => this.decisions.has(each.interruptId)))
      void this.chat.answer(this.decisions);
  }
}

export function approvalQuestion(tool: string, strings: Strings): string {
  return fill(strings.approvalNeeded, { tool: visibleText(toolLabel(tool)) });
}

/** Asks the visitor about one tool call. */
export class ApprovalCard {
  readonly element: HTMLElement;
  private readonly approval: Approval;
  private readonly desk: ApprovalDesk;
  private readonly buttons: ReadonlyMap<boolean, HTMLButtonElement>;
  private readonly details: ArgumentTable | null;
  private isOpen = true;

  constructor(approval: Approval, { strings }: ViewContext, desk: ApprovalDesk) {
    this.approval = approval;
    this.desk = desk;
    const question = approvalQuestion(approval.tool, strings);
    const { input } = approval;
    const hasDetails = typeof input === 'object' && input !== null && Object.keys(input).length > 0;
    this.details = hasDetails ? new ArgumentTable(input, strings, () => this.update(this.isOpen)) : null;
    this.buttons = new Map([
      [true, this.choice(strings.approve, true, 'button primary')],
      [false, this.choice(strings.decline, false, 'button')],
    ]);
    this.element = make(
      'div',
      { className: 'component approval', attributes: { role: 'group', 'aria-label': question } },
      make('p', { className: 'question' }, icon(MESSAGE_ICONS.shield), make('bdi', { text: question })),
      make('p', {
        className: 'explanation',
        text: hasDetails ? strings.approvalExplained : strings.approvalWithoutDetails,
      }),
      this.details?.element,
      make('div', { className: 'approval-choices' }, ...this.buttons.values()),
    );
  }

  /** @param isOpen false while the answers are under way */
  update(isOpen: boolean): void {
    this.isOpen = isOpen;
    const decision = this.desk.decisionOn(this.approval.interruptId);
    for (const [approves, each] of this.buttons) {
      // Disabling the button would take the focus from the visitor who has just pressed it.
      each.setAttribute('aria-disabled', String(!isOpen || !this.mayBe(approves)));
      each.setAttribute('aria-pressed', String(decision === approves));
      each.classList.toggle('chosen', decision === approves);
    }
    this.element.classList.toggle('decided', decision !== undefined);
  }

  /** What the visitor has not seen must not be approved. */
  private mayBe(approves: boolean): boolean {
    return !approves || this.details === null || this.details.isWhole;
  }

  private choice(label: string, approves: boolean, className: string): HTMLButtonElement {
    return button(
      label,
      () => {
        if (!this.isOpen) return;
        if (!this.mayBe(approves)) {
          this.details?.focusMore();
          return;
        }
        this.desk.decide(this.approval.interruptId, approves);
        this.update(this.isOpen);
      },
      { className },
    );
  }
}
