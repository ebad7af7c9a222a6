import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type ThreadDataHolder, ThreadDataHolders } from '../../conversations/index.js';
import { TraceRepository } from '../persistence/trace.repository.js';

/** The text of a deleted conversation must not live on in its traces. */
@Injectable()
export class HoldTracesOfThreads implements ThreadDataHolder, OnModuleInit {
  constructor(
    private readonly holders: ThreadDataHolders,
    private readonly traces: TraceRepository,
  ) {}

  onModuleInit(): void {
    this.holders.register(this);
  }

  removeSome(threadIds: readonly string[], limit: number): Promise<number> {
    return this.traces.deleteOfThreads(threadIds, limit);
  }
}
