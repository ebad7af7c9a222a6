import { z } from 'zod';
import type { JsonObject } from '../../models/index.js';
import { sent, type Stored } from '../../platform/stored-json/index.js';
import type { RunUser } from './user-key.js';

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
export const approvalRequest = z.object({
  /** What an answer names. */
  id: z.string(),
  toolCallId: z.string(),
  /** As the model sees it. */
  tool: z.string(),
  /** What the tool will be called with, after the changes of hooks. */
  input: sent<JsonObject>(),
  /** The tool's own when the call was asked for; absent where it has none. */
  target: z.string().optional(),
  /** What hooks had to say of the call, for the model to read with its result. */
  additionalContext: z.array(z.string()).optional(),
});
export type ApprovalRequest = Stored<typeof approvalRequest>;

/** A request is open for this long after the end of the run that made it. */
export const APPROVAL_HOURS = 24;

const APPROVAL_MS = APPROVAL_HOURS * 3_600_000;

/** An hour more: a run that an answer of the last moment has begun takes what was kept for it, and clocks differ by a little. */
const KEPT_RESULTS_MS = APPROVAL_MS + 3_600_000;

/** @param askedAt when the run that made the requests ended */
export function approvalExpiry(askedAt: Date): Date {
  return new Date(askedAt.getTime() + APPROVAL_MS);
}

/** From this moment on the calls can no longer be approved. */
export function hasExpired(askedAt: Date, now: Date): boolean {
  return now >= approvalExpiry(askedAt);
}

/** What was kept for the run that would answer requests is of no use any more where they were made before this. */
export function oldestKeptResults(now: Date): Date {
  return new Date(now.getTime() - KEPT_RESULTS_MS);
}

/** What a caller says to one request. */
export interface ApprovalAnswer {
  readonly interruptId: string;
  readonly approved: boolean;
  readonly reason: string | null;
}

/** A request with its answer. */
export const approvalDecision = approvalRequest.omit({ id: true }).extend({
  approved: z.boolean(),
  reason: z.string().nullable().default(null),
});
export type ApprovalDecision = Stored<typeof approvalDecision>;

/** How a run goes on that ended with requests. */
export interface ResumeInput {
  /** The run that asked. */
  readonly runId: string;
  /** One a request, in their order. */
  readonly decisions: readonly ApprovalDecision[];
  /** The user of the run that asked: its calls are made for that user and not for the approver. */
  readonly user: RunUser;
}

export type UnfitAnswers =
  | { readonly problem: 'unknown' | 'expired' | 'repeated'; readonly index: number; readonly interruptId: string }
  | { readonly problem: 'missing'; readonly interruptId: string };

/** Answers fit when the requests are open, each has exactly one, and there is none besides. */
export function validateAnswers(
  requests: readonly ApprovalRequest[],
  answers: readonly ApprovalAnswer[],
  expired: boolean,
): UnfitAnswers | null {
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

/** @param answers that fit the requests */
export function decide(requests: readonly ApprovalRequest[], answers: readonly ApprovalAnswer[]): ApprovalDecision[] {
  const byId = new Map(answers.map((answer) => [answer.interruptId, answer]));
  return requests.map(({ id, ...call }) => {
    const answer = byId.get(id);
    return { ...call, approved: answer?.approved ?? false, reason: answer?.reason ?? null };
  });
}

/** What the model reads in place of the result of a call that was declined. */
export function declinedOutput({ reason }: Pick<ApprovalDecision, 'reason'>): string {
  const declined = 'The user declined this call, so it was not made.';
  return reason === null || reason === '' ? declined : `${declined} The reason given: ${reason}`;
}

/** The same name means another tool, or the tool is somewhere else: nobody has approved that. */
export const CHANGED_SINCE_APPROVED =
  'This call was not made: the tool has changed since it was asked for. Ask for it again if it is still needed.';

export const DECLINED_BY_MESSAGE = 'This call was not made: instead of approving it, the user sent the next message.';

export const EXPIRED_UNANSWERED = `This call was not made: nobody approved it within ${APPROVAL_HOURS} hours, so the request expired without an answer.`;

export const NOBODY_TO_ASK =
  'This call was not made: it needs approval, and here nobody can be asked. Go on without it, or tell the user so.';

export const NEVER_ASKED = 'This call was not made: it needs approval, and the run ended before anybody was asked.';
