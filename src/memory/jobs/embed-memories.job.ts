import type { z } from 'zod';
import { type ActiveJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { EmbedMemories } from '../application/embed-memories.js';
import { embedMemories, type embedMemoriesPayload } from './embed-memories.definition.js';

@Processor(embedMemories.name)
export class EmbedMemoriesJob extends WorkerHost {
  constructor(private readonly memories: EmbedMemories) {
    super();
  }

  process({ data: owner, signal }: ActiveJob<z.output<typeof embedMemoriesPayload>>): Promise<void> {
    return this.memories.execute(owner, signal);
  }
}
