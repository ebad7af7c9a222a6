import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type ThreadDataHolder, ThreadDataHolders } from '../../conversations/index.js';
import { TraceRepository } from '../persistence/trace.repository.js';

/** Deletes the traces of deleted threads, because they hold the text of the conversation. */
@Injectable()
export class DeleteTracesOfThreads implements ThreadDataHolder, OnModuleInit {
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
