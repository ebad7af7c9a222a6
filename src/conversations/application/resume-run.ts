import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { AttachmentMemory } from '../../files/index.js';
import { Clock } from '../../platform/clock/index.js';
import { storableJson } from '../../platform/database/index.js';
import {
  type ApprovalAnswer,
  decide,
  hasExpired,
  openAnswers,
  type ResumeInput,
  validateAnswers,
} from '../domain/approval.js';
import {
  invalidAnswers,
  threadBusy,
  threadNotFound,
  toRefusal,
  userContextMismatch,
} from '../domain/conversations.errors.js';
import { RunNotStarted } from '../domain/run.js';
import { AttachedFiles } from '../engine/attached-files.js';
import { RunReader } from '../persistence/run-reader.repository.js';
import type { NewRun } from '../persistence/new-run.js';
import { RunRepository, type StartedRun } from '../persistence/run.repository.js';
import type { UserContext } from '../ports/index.js';
import { AdmitRun } from './admit-run.js';
import { IdempotentRuns } from './idempotent-runs.js';
import { RunLauncher, type RunRequest } from './run-launcher.js';
import type { ActiveRun } from './run-supervisor.js';
import type { ThreadReference } from './thread-lookup.js';

export type ResumeRunCommand = Omit<RunRequest, 'agent'> & {
  readonly thread: ThreadReference;
  readonly answers: readonly ApprovalAnswer[];
  /** The request may repeat results of calls that are not open any more. */
  readonly repeatsResults?: boolean;
  /** The path of `userContext` in the request, for the error message. */
  readonly userContextField: string;
};

/** Takes the approvals and results that the thread's last run waits for, and starts a run that continues it. */
@Injectable()
export class ResumeRun {
  constructor(
    private readonly admitRun: AdmitRun,
    private readonly launcher: RunLauncher,
    private readonly idempotentRuns: IdempotentRuns,
    private readonly memory: AttachmentMemory,
    private readonly runs: RunRepository,
    private readonly reader: RunReader,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns the run under way; for a repeated request the first one's run
   * @throws DomainError `invalid` when there is not one answer for each open request, or when `userContext` differs
   * from that of the run that made the requests; what `StartRun.execute` throws. Nothing is called or stored then
   */
  execute({
    thread,
    answers,
    userContextField,
    repeatsResults = false,
    ...request
  }: ResumeRunCommand): Promise<ActiveRun> {
    const { organizationId } = request;
    const start = async (): Promise<ActiveRun> => {
      const resumeInput = await this.resumeInputOf(organizationId, thread, answers, repeatsResults);
      if (!isSame(request.userContext, resumeInput.user.userContext)) throw userContextMismatch(userContextField);
      await this.admitRun.execute(organizationId, thread.agent, request.options);
      const attached = new AttachedFiles([], this.memory.reserve());
      const input = { threadId: thread.id, userMessage: null, attached, resumeInput };
      try {
        const store = (run: NewRun): Promise<StartedRun> => this.runs.start(organizationId, run);
        return await this.launcher.launch({ ...request, agent: thread.agent }, input, store);
      } catch (error) {
        const isAnswered = error instanceof RunNotStarted && error.because === 'answered';
        // The run that has answered may be under way; a later request would be refused for this reason too.
        if (isAnswered && (await this.reader.isBusy(organizationId, thread.id))) throw threadBusy();
        throw toRefusal(error, threadNotFound);
      }
    };
    return this.idempotentRuns.execute({ ...request, threadId: thread.id }, start);
  }

  private async resumeInputOf(
    organizationId: string,
    thread: ThreadReference,
    sent: readonly ApprovalAnswer[],
    repeatsResults: boolean,
  ): Promise<ResumeInput> {
    const open = await this.reader.openApprovals(organizationId, thread.id);
    if (!open) throw threadNotFound();
    if (open.busy) throw threadBusy();
    const answers = repeatsResults ? openAnswers(open.requests, sent) : sent;
    const expired = open.askedAt !== null && hasExpired(open.askedAt, this.clock.now());
    const invalid = validateAnswers(open.requests, answers, expired);
    if (invalid) throw invalidAnswers(invalid);
    if (open.runId === null) throw new Error('Valid answers refer to requests without a run');
    const { runId, requests, user, continuation } = open;
    return { runId, decisions: decide(requests, answers), user, continuation };
  }
}

/** @param stored as read from the database, which changes some texts; so `sent` is converted in the same way */
function isSame(sent: UserContext | null, stored: UserContext | null): boolean {
  return sent === null || isDeepStrictEqual(JSON.parse(storableJson(sent)), stored ?? {});
}
