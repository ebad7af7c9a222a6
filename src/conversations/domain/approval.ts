import { z } from 'zod';
import type { JsonObject } from '../../models/index.js';
import { sent, type Stored } from '../../platform/stored-json/index.js';
import type { RunUser } from './user-key.js';

/** `exempt`: tools of the service itself (knowledge, memory, components), which never need approval. */
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

/** A request to approve a call. The run that wanted to make the call has ended with it. */
export const approvalRequest = z.object({
  /** The answer refers to it. */
  id: z.string(),
  toolCallId: z.string(),
  tool: z.string(),
  /** The arguments, with the changes of hooks. */
  input: sent<JsonObject>(),
  /** The tool's `target` when the run asked; absent when it had none. */
  target: z.string().optional(),
  /** Contexts that hooks added to the call; the model reads them with the result. */
  additionalContext: z.array(z.string()).optional(),
});
export type ApprovalRequest = Stored<typeof approvalRequest>;

/** A request can be answered for this long after the end of the run that made it. */
export const APPROVAL_HOURS = 24;

const APPROVAL_MS = APPROVAL_HOURS * 3_600_000;

/** Longer: a run that was resumed at the last moment reads its results after its start, and clocks differ. */
const KEPT_RESULTS_MS = APPROVAL_MS + 3_600_000;

/** @param askedAt when the run that made the requests ended */
export function approvalExpiry(askedAt: Date): Date {
  return new Date(askedAt.getTime() + APPROVAL_MS);
}

export function hasExpired(askedAt: Date, now: Date): boolean {
  return now >= approvalExpiry(askedAt);
}

/** Kept results of runs that ended before this time are no longer needed. */
export function oldestKeptResults(now: Date): Date {
  return new Date(now.getTime() - KEPT_RESULTS_MS);
}

export interface ApprovalAnswer {
  readonly interruptId: string;
  readonly approved: boolean;
  readonly reason: string | null;
}

export const approvalDecision = approvalRequest.omit({ id: true }).extend({
  approved: z.boolean(),
  reason: z.string().nullable().default(null),
});
export type ApprovalDecision = Stored<typeof approvalDecision>;

/** What a run needs to resume a run that ended with requests for approval. */
export interface ResumeInput {
  readonly runId: string;
  /** One for each request, in their order. */
  readonly decisions: readonly ApprovalDecision[];
  /** The user of the run that made the requests: the calls are made for that user and not for the approver. */
  readonly user: RunUser;
}

export type InvalidAnswers =
  | { readonly problem: 'unknown' | 'expired' | 'repeated'; readonly index: number; readonly interruptId: string }
  | { readonly problem: 'missing'; readonly interruptId: string };

/**
 * Answers are valid when each open request has exactly one, and no answer refers to anything else.
 * @returns null for valid answers
 */
export function validateAnswers(
  requests: readonly ApprovalRequest[],
  answers: readonly ApprovalAnswer[],
  expired: boolean,
): InvalidAnswers | null {
  const asked = new Set(requests.map(({ id }) => id));
  const answered = new Set<string>();
  for (const [index, { interruptId }] of answers.entries()) {
    if (asked.has(interruptId) && expired) return { problem: 'expired', index, interruptId };
    if (!asked.has(interruptId)) return { problem: 'unknown', index, interruptId };
    if (answered.has(interruptId)) return { problem: 'repeated', index, interruptId };
    answered.add(interruptId);
  }
  const missing = requests.find(({ id }) => !answered.has(id));
  return missing ? { problem: 'missing', interruptId: missing.id } : null;
}

/** @param answers valid ones (`validateAnswers`) */
export function decide(requests: readonly ApprovalRequest[], answers: readonly ApprovalAnswer[]): ApprovalDecision[] {
  const byId = new Map(answers.map((answer) => [answer.interruptId, answer]));
  return requests.map(({ id, ...call }) => {
    const answer = byId.get(id);
    return { ...call, approved: answer?.approved ?? false, reason: answer?.reason ?? null };
  });
}

/** The model reads this as the result of a declined call. */
export function declinedOutput({ reason }: Pick<ApprovalDecision, 'reason'>): string {
  const declined = 'The user declined this call, so it was not made.';
  return reason === null || reason === '' ? declined : `${declined} The reason given: ${reason}`;
}

/** The approval does not cover the tool that has this name now. */
export const CHANGED_SINCE_APPROVED =
  'This call was not made: the tool has changed since it was asked for. Ask for it again if it is still needed.';

export const DECLINED_BY_MESSAGE = 'This call was not made: instead of approving it, the user sent the next message.';

export const EXPIRED_UNANSWERED = `This call was not made: the request to approve it expired without an answer after ${APPROVAL_HOURS} hours.`;

export const APPROVAL_UNAVAILABLE =
  'This call was not made: it needs approval, and this conversation has no way to ask for it. Continue without it, or tell the user.';

export const ENDED_BEFORE_APPROVAL =
  'This call was not made: it needs approval, and the run ended before it could ask.';
