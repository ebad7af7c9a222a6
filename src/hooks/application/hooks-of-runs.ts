import { Injectable } from '@nestjs/common';
import type { RunContext } from '../../conversations/index.js';
import type { ThreadSession } from '../domain/session-start.js';
import { type AgentHooks, HooksOfAgents } from './hooks-of-agents.js';
import { StartSession } from './start-session.js';

interface OfRun {
  readonly hooks: Promise<AgentHooks>;
  session?: Promise<ThreadSession>;
}

/** The hooks of runs under way: from its begin to its end a run has the same ones, whatever becomes of its agent. */
@Injectable()
export class HooksOfRuns {
  /** Kept with the run itself, so nothing has to be cleaned up after it. */
  private readonly runs = new WeakMap<RunContext, OfRun>();

  constructor(
    private readonly hooksOfAgents: HooksOfAgents,
    private readonly startSession: StartSession,
  ) {}

  of(run: RunContext): Promise<AgentHooks> {
    return this.entryOf(run).hooks;
  }

  /** What the run's thread began with; it begins with the first of its runs that asks. */
  sessionOf(run: RunContext): Promise<ThreadSession> {
    const entry = this.entryOf(run);
    entry.session ??= entry.hooks.then((hooks) => this.startSession.of(run, hooks));
    return entry.session;
  }

  private entryOf(run: RunContext): OfRun {
    const known = this.runs.get(run);
    if (known) return known;
    const { organizationId, agent } = run;
    const entry = { hooks: this.hooksOfAgents.of(organizationId, agent.id, agent.version) };
    this.runs.set(run, entry);
    return entry;
  }
}
