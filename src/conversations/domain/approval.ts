import { z } from 'zod';
import type { JsonObject } from '../../models/index.js';
import { sent, type Stored } from '../../platform/stored-json/index.js';
import type { RunContinuation } from './run-options.js';
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

/** A call for which the run needs an answer. The run that wanted to make the call has ended with it. */
export const approvalRequest = z.object({
  /** The answer refers to it. */
  id: z.string(),
  /** `approval`: a person approves the call. `client_call`: the caller makes the call, and sends its result. */
  kind: z.enum(['approval', 'client_call']).default('approval'),
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

/** Requests of runs that ended at this time or earlier have expired. */
export function oldestOpenRequests(now: Date): Date {
  return new Date(now.getTime() - APPROVAL_MS);
}

/** Kept results of runs that ended before this time are no longer needed. */
export function oldestKeptResults(now: Date): Date {
  return new Date(now.getTime() - KEPT_RESULTS_MS);
}

/** What a request answers a call with. */
export type CallAnswer =
  /** @property input the arguments of the call, instead of the model's */
  | { readonly type: 'approved'; readonly input?: JsonObject }
  | { readonly type: 'declined'; readonly reason: string | null }
  | { readonly type: 'result'; readonly output: string; readonly isError: boolean };

export interface ApprovalAnswer {
  /** The id of a request, or the id of the call that it asks for. */
  readonly refersTo: { readonly interruptId: string } | { readonly toolCallId: string };
  readonly answer: CallAnswer;
  /** Where the request has the reference and the answer, for error messages. */
  readonly at: { readonly reference: string; readonly answer: string };
}

export const approvalDecision = approvalRequest.omit({ id: true }).extend({
  /** False for a call that was declined. A client's call is approved by its result. */
  approved: z.boolean(),
  reason: z.string().nullable().default(null),
  /** The arguments that a person has put in place of `input`. */
  changedInput: sent<JsonObject>().optional(),
  /** Of a client's call. The stored message has the output, so `runs.decisions` has none. */
  result: z.object({ output: z.string().default(''), isError: z.boolean() }).optional(),
});
export type ApprovalDecision = Stored<typeof approvalDecision>;

/** What a run needs to resume a run that ended with requests for approval. */
export interface ResumeInput {
  readonly runId: string;
  /** One for each request, in their order. */
  readonly decisions: readonly ApprovalDecision[];
  /** The user of the run that made the requests: the calls are made for that user and not for the approver. */
  readonly user: RunUser;
  readonly continuation: RunContinuation;
}

export type InvalidAnswers =
  | { readonly problem: 'unknown' | 'expired' | 'repeated' | 'needs_approval' | 'needs_result'; readonly at: string }
  /** `toolCallId`: of a client's call. */
  | { readonly problem: 'missing'; readonly interruptId: string; readonly toolCallId?: string }
  | { readonly problem: 'nothing_open' };

/**
 * Answers are valid when each open request has exactly one of its kind, and no answer refers to anything else.
 * @returns null for valid answers
 */
export function validateAnswers(
  requests: readonly ApprovalRequest[],
  answers: readonly ApprovalAnswer[],
  expired: boolean,
): InvalidAnswers | null {
  const answered = new Set<ApprovalRequest>();
  for (const { refersTo, answer, at } of answers) {
    const request = requests.find((each) => isReference(refersTo, each));
    if (!request) return { problem: 'unknown', at: at.reference };
    if (expired) return { problem: 'expired', at: at.reference };
    if (answered.has(request)) return { problem: 'repeated', at: at.reference };
    if (answer.type === 'result' && request.kind === 'approval') return { problem: 'needs_approval', at: at.answer };
    if (answer.type === 'approved' && request.kind === 'client_call') return { problem: 'needs_result', at: at.answer };
    answered.add(request);
  }
  const missing = requests.find((request) => !answered.has(request));
  if (!missing) return requests.length === 0 ? { problem: 'nothing_open' } : null;
  const { id: interruptId, kind, toolCallId } = missing;
  return { problem: 'missing', interruptId, ...(kind === 'client_call' ? { toolCallId } : {}) };
}

/** The answers that refer to an open request, for protocols whose requests repeat answers of earlier runs. */
export function openAnswers(
  requests: readonly ApprovalRequest[],
  answers: readonly ApprovalAnswer[],
): readonly ApprovalAnswer[] {
  return answers.filter(
    ({ refersTo }) => 'interruptId' in refersTo || requests.some((request) => isReference(refersTo, request)),
  );
}

function isReference(refersTo: ApprovalAnswer['refersTo'], { id, toolCallId, kind }: ApprovalRequest): boolean {
  if ('interruptId' in refersTo) return refersTo.interruptId === id;
  return kind === 'client_call' && refersTo.toolCallId === toolCallId;
}

/** @param answers valid ones (`validateAnswers`) */
export function decide(requests: readonly ApprovalRequest[], answers: readonly ApprovalAnswer[]): ApprovalDecision[] {
  return requests.map((request) => {
    const { id: _id, ...call } = request;
    const answer = answers.find(({ refersTo }) => isReference(refersTo, request))?.answer;
    return { ...call, ...decisionOf(answer ?? { type: 'declined', reason: null }) };
  });
}

function decisionOf(answer: CallAnswer): Pick<ApprovalDecision, 'approved' | 'reason' | 'changedInput' | 'result'> {
  switch (answer.type) {
    case 'approved':
      return { approved: true, reason: null, ...(answer.input ? { changedInput: answer.input } : {}) };
    case 'declined':
      return { approved: false, reason: answer.reason };
    case 'result':
      return { approved: true, reason: null, result: { output: answer.output, isError: answer.isError } };
    default:
      return answer satisfies never;
  }
}

/** The beginning of the result of a call that a person has approved with other arguments. */
export function changedInputNote(made: JsonObject): string {
  return `The user changed the arguments before approving this call. It was made with: ${JSON.stringify(made)}`;
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

export const RESULT_REPLACED_BY_MESSAGE =
  'This call has no result: instead of sending it, the user sent the next message.';

export const RESULT_EXPIRED = `This call has no result: none was sent within ${APPROVAL_HOURS} hours.`;

export const EXPIRED_UNANSWERED = `This call was not made: the request to approve it expired without an answer after ${APPROVAL_HOURS} hours.`;

export const APPROVAL_UNAVAILABLE =
  'This call was not made: it needs approval, and this conversation has no way to ask for it. Continue without it, or tell the user.';

export const ENDED_BEFORE_CALLER =
  'This call was not made: the run ended before its caller could be asked for the result.';

export const ENDED_BEFORE_APPROVAL =
  'This call was not made: it needs approval, and the run ended before it could ask.';
