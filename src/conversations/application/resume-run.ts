import { Injectable } from '@nestjs/common';
import { DomainError } from '../../platform/errors/index.js';
import { type ApprovalAnswer, decide, type ResumeInput, validateAnswers } from '../domain/approval.js';
import { answersUnfit, threadBusy, threadNotFound } from '../domain/conversations.errors.js';
import { type OpenApprovals, RunReader } from '../persistence/run-reader.repository.js';
import type { ActiveRun } from './run-supervisor.js';
import { type ResumedRunCommand, StartRun } from './start-run.js';

export type ResumeRunCommand = Omit<ResumedRunCommand, 'resumption'> & { readonly answers: readonly ApprovalAnswer[] };

/** Takes the answers to the calls that the thread's last run ended with, and goes on in a run of its own. */
@Injectable()
export class ResumeRun {
  constructor(
    private readonly runs: RunReader,
    private readonly startRun: StartRun,
  ) {}

  /**
   * @returns the run under way, or for a repeated request the one that the first made
   * @throws DomainError `invalid` when the answers are not one for each open request, `conflict`
   * (`thread_busy`), and what `StartRun.execute` throws; nothing is called or stored then
   */
  async execute({ answers, ...command }: ResumeRunCommand): Promise<ActiveRun> {
    const { organizationId, thread } = command;
    const open = await this.runs.openApprovals(organizationId, thread.id);
    const resumption = resumptionOf(open, answers);
    if (!(resumption instanceof DomainError)) return this.startRun.execute({ ...command, resumption });
    // What a repeat answers has been answered by the first request.
    const first = await this.startRun.repeated(command);
    if (first) return first;
    throw resumption;
  }
}

function resumptionOf(open: OpenApprovals | null, answers: readonly ApprovalAnswer[]): ResumeInput | DomainError {
  if (!open) return threadNotFound();
  if (open.busy) return threadBusy();
  const unfit = validateAnswers(open.requests, answers);
  if (unfit) return answersUnfit(unfit);
  if (open.runId === null) throw new Error('Answers fit requests that no run has made');
  return { runId: open.runId, decisions: decide(open.requests, answers) };
}
