import type { Approval, ToolActivity } from '../client/chat-state.js';
import { ApprovalCard, type ApprovalDesk } from './approval-card.js';
import { make } from './dom.js';
import { ToolView } from './tool-view.js';
import type { ViewContext } from './view-context.js';
import { visibleText } from './visible-text.js';

/** A tool call in a reply: a card while the visitor has to decide on it, else a row. */
export class ToolPart {
  readonly element = make('div', { className: 'tool-part' });
  private readonly context: ViewContext;
  private readonly desk: ApprovalDesk;
  private card: { readonly id: string; readonly view: ApprovalCard } | null = null;
  private row: ToolView | null = null;

  constructor(context: ViewContext, desk: ApprovalDesk) {
    this.context = context;
    this.desk = desk;
  }

  /**
   * @param approval what the visitor has to decide; undefined for nothing
   * @param isAnswering answers may be under way
   */
  update(tool: ToolActivity, approval: Approval | undefined, isAnswering: boolean): void {
    if (approval) this.ask(approval);
    else if (this.card && isAnswering && tool.status === 'awaiting_approval') this.card.view.update(false);
    else this.show(tool);
  }

  private ask(approval: Approval): void {
    if (this.card?.id !== approval.interruptId) {
      this.card = { id: approval.interruptId, view: new ApprovalCard(approval, this.context, this.desk) };
      this.row = null;
      this.element.replaceChildren(this.card.view.element);
    }
    this.card.view.update(true);
  }

  private show(tool: ToolActivity): void {
    if (!this.row) {
      // The visitor who has just decided goes on from the row.
      const hadFocus = this.element.matches(':focus-within');
      this.card = null;
      this.row = new ToolView(this.context.strings);
      this.element.replaceChildren(this.row.element);
      if (hadFocus) this.row.element.querySelector('summary')?.focus({ preventScroll: true });
    }
    this.row.update({ ...tool, name: visibleText(tool.name) });
  }
}

/** The approval that each awaiting tool call needs, by its id. An approval without the id of a call is for the next one. */
export function approvalsByTool(
  tools: readonly Pick<ToolActivity, 'id' | 'status'>[],
  approvals: readonly Approval[],
): ReadonlyMap<string, Approval> {
  const found = new Map<string, Approval>();
  for (const approval of approvals) if (approval.toolCallId !== null) found.set(approval.toolCallId, approval);
  const unnamed = approvals.filter(({ toolCallId }) => toolCallId === null);
  for (const { id, status } of tools) {
    if (status !== 'awaiting_approval' || found.has(id)) continue;
    const next = unnamed.shift();
    if (next) found.set(id, next);
  }
  return found;
}
