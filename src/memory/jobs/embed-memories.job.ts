import type { z } from 'zod';
import { UserKeys } from '../../conversations/index.js';
import { type ActiveJob, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { EmbedMemories } from '../application/embed-memories.js';
import { embedMemories, type embedMemoriesPayload } from './embed-memories.definition.js';

@Processor(embedMemories.name)
export class EmbedMemoriesJob extends WorkerHost {
  constructor(
    private readonly memories: EmbedMemories,
    private readonly users: UserKeys,
  ) {
    super();
  }

  async process({ data, signal }: ActiveJob<z.output<typeof embedMemoriesPayload>>): Promise<void> {
    // The former version may have written it.
    const userKey = await this.users.current(data.organizationId, data.userKey);
    await this.memories.execute({ ...data, userKey }, signal);
  }
}
