import { Inject, Injectable } from '@nestjs/common';
import type { AgentLoop, LoopedRun } from '../domain/agent-loop.js';
import type { ProviderType } from '../providers/index.js';

/** Injection token of the list of `AgentLoop`s. */
export const AGENT_LOOPS = Symbol('AGENT_LOOPS');

/** The loops that run agents of some types in place of the engine's. */
@Injectable()
export class AgentLoops {
  private readonly loops: ReadonlyMap<string, AgentLoop>;

  constructor(@Inject(AGENT_LOOPS) loops: readonly AgentLoop[]) {
    this.loops = new Map(loops.map((loop) => [loop.type, loop]));
  }

  /** A sentence on what the operator has to do before agents of the type can run; null when they can. */
  missing(type: ProviderType): string | null {
    return this.loops.get(type)?.missing ?? null;
  }

  /** Starts a run on the loop of the type, whose `end` must be called; undefined if the engine's loop runs such agents. */
  begin(type: ProviderType, organizationId: string, signal: AbortSignal): LoopedRun | undefined {
    return this.loops.get(type)?.begin(organizationId, signal);
  }
}
