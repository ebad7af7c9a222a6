import { Inject, Injectable } from '@nestjs/common';
import type { AgentLoop, LoopedRun } from '../domain/agent-loop.js';
import type { ProviderType } from '../providers/index.js';

/** Injects the `AgentLoop`s of this installation. */
export const AGENT_LOOPS = Symbol('AGENT_LOOPS');

/** The loops that agents of some types run on in place of the engine's own. */
@Injectable()
export class AgentLoops {
  private readonly loops: ReadonlyMap<string, AgentLoop>;

  constructor(@Inject(AGENT_LOOPS) loops: readonly AgentLoop[]) {
    this.loops = new Map(loops.map((loop) => [loop.type, loop]));
  }

  /** What an operator has to do before agents of the type can run, as a sentence; null when they can. */
  missing(type: ProviderType): string | null {
    return this.loops.get(type)?.missing ?? null;
  }

  /** Takes part in a run; undefined for agents that run on the engine's own loop. `end` must be called. */
  begin(type: ProviderType, organizationId: string, signal: AbortSignal): LoopedRun | undefined {
    return this.loops.get(type)?.begin(organizationId, signal);
  }
}
