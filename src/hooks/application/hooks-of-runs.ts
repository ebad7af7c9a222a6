import { Injectable } from '@nestjs/common';
import type { RunContext } from '../../conversations/index.js';
import { HiddenTools } from '../../integrations/index.js';
import { AttachedValue } from '../../platform/heap/index.js';
import type { ThreadSession } from '../domain/session-start.js';
import { type AgentHooks, HooksOfAgents } from './hooks-of-agents.js';
import { StartSession } from './start-session.js';

interface RunEntry {
  readonly hooks: Promise<AgentHooks>;
  session?: Promise<ThreadSession>;
}

/** The hooks of active runs. A run keeps the hooks that it began with, also when its agent changes. */
@Injectable()
export class HooksOfRuns {
  private readonly runs = new AttachedValue<RunContext, RunEntry>();

  constructor(
    private readonly hooksOfAgents: HooksOfAgents,
    private readonly startSession: StartSession,
    hiddenTools: HiddenTools,
  ) {
    // Models are not offered the tool of a session-start hook: only the service calls it.
    hiddenTools.register(async (run) => {
      const { sessionStart } = await this.of(run);
      return sessionStart ? [{ app: sessionStart.app, tool: sessionStart.toolName }] : [];
    });
  }

  of(run: RunContext): Promise<AgentHooks> {
    return this.entryOf(run).hooks;
  }

  /** The session of the run's thread. The first call for a thread starts the session. */
  sessionOf(run: RunContext): Promise<ThreadSession> {
    const entry = this.entryOf(run);
    entry.session ??= this.unlessItFails(
      run,
      entry.hooks.then((hooks) => this.startSession.of(run, hooks)),
    );
    return entry.session;
  }

  private entryOf(run: RunContext): RunEntry {
    const known = this.runs.get(run);
    if (known) return known;
    const { organizationId, agent } = run;
    const entry = { hooks: this.unlessItFails(run, this.hooksOfAgents.of(organizationId, agent.id, agent.version)) };
    this.runs.set(run, entry);
    return entry;
  }

  /** A failed read is not kept: after an outage of the database the engine asks for the prompt again. */
  private unlessItFails<Read>(run: RunContext, read: Promise<Read>): Promise<Read> {
    read.catch(() => this.runs.remove(run));
    return read;
  }
}
