import type { JsonObject } from '../../models/index.js';

/**
 * What calling a tool does, as far as approval goes. `exempt` tools are the agent's own means (its
 * knowledge, its memory, what it shows) and never ask.
 */
export type ToolEffect = 'exempt' | 'read_only' | 'changes_resources';

/** Which calls of an agent need approval. */
export interface ApprovalSettings {
  readonly requireApprovalForResourceChanges: boolean;
  readonly requireApprovalBeforeToolCalls: boolean;
}

export function needsApproval(effect: ToolEffect, settings: ApprovalSettings): boolean {
  switch (effect) {
    case 'exempt':
      return false;
    case 'read_only':
      return settings.requireApprovalBeforeToolCalls;
    case 'changes_resources':
      return settings.requireApprovalBeforeToolCalls || settings.requireApprovalForResourceChanges;
    default:
      return effect satisfies never;
  }
}

/** A call that a run has ended with, waiting for an answer. */
export interface ApprovalRequest {
  /** What an answer names. */
  readonly id: string;
  readonly toolCallId: string;
  /** As the model sees it. */
  readonly tool: string;
  /** What the tool will be called with, after the changes of hooks. */
  readonly input: JsonObject;
}

/** What a caller says to one request. */
export interface ApprovalAnswer {
  readonly interruptId: string;
  readonly approved: boolean;
  readonly reason: string | null;
}

/** A request with its answer. */
export interface ApprovalDecision {
  readonly toolCallId: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly approved: boolean;
  readonly reason: string | null;
}

/** How a run goes on that ended with requests. */
export interface ResumeInput {
  /** The run that asked. */
  readonly runId: string;
  /** One a request, in their order. */
  readonly decisions: readonly ApprovalDecision[];
}

export type UnfitAnswers =
  | { readonly problem: 'unknown' | 'repeated'; readonly index: number; readonly interruptId: string }
  | { readonly problem: 'missing'; readonly interruptId: string };

/** Answers fit when each request has exactly one, and there is none besides. */
export function validateAnswers(
  requests: readonly ApprovalRequest[],
  answers: readonly ApprovalAnswer[],
): UnfitAnswers | null {
  const open = new Set(requests.map(({ id }) => id));
  const answered = new Set<string>();
  for (const [index, { interruptId }] of answers.entries()) {
    if (!open.has(interruptId)) return { problem: 'unknown', index, interruptId };
    if (answered.has(interruptId)) return { problem: 'repeated', index, interruptId };
    answered.add(interruptId);
  }
  const missing = requests.find(({ id }) => !answered.has(id));
  return missing ? { problem: 'missing', interruptId: missing.id } : null;
}

/** @param answers that fit the requests */
export function decide(
  requests: readonly ApprovalRequest[],
  answers: readonly ApprovalAnswer[],
): ApprovalDecision[] {
  const byId = new Map(answers.map((answer) => [answer.interruptId, answer]));
  return requests.map(({ id, toolCallId, tool, input }) => {
    const answer = byId.get(id);
    return { toolCallId, tool, input, approved: answer?.approved ?? false, reason: answer?.reason ?? null };
  });
}

/** What the model reads in place of the result of a call that was declined. */
export function declinedOutput({ reason }: Pick<ApprovalDecision, 'reason'>): string {
  const declined = 'The user declined this call, so it was not made.';
  return reason === null || reason === '' ? declined : `${declined} The reason given: ${reason}`;
}

export const DECLINED_BY_MESSAGE =
  'This call was not made: instead of approving it, the user sent the next message.';

export const NOBODY_TO_ASK =
  'This call was not made: it needs approval, and here nobody can be asked. Go on without it, or tell the user so.';

export const NEVER_ASKED = 'This call was not made: it needs approval, and the run ended before anybody was asked.';
