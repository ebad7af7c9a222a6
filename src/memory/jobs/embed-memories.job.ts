import { UserKeys } from '../../conversations/index.js';
import { type JobOf, Processor, WorkerHost } from '../../platform/jobs/index.js';
import { EmbedMemories } from '../application/embed-memories.js';
import { embedMemories } from './embed-memories.definition.js';

@Processor(embedMemories.name)
export class EmbedMemoriesJob extends WorkerHost {
  constructor(
    private readonly memories: EmbedMemories,
    private readonly users: UserKeys,
  ) {
    super();
  }

  async process({ data, signal }: JobOf<typeof embedMemories>): Promise<void> {
    // A process of the previous release may have enqueued the job with a bare key.
    const userKey = await this.users.current(data.organizationId, data.userKey);
    await this.memories.execute({ ...data, userKey }, signal);
  }
}
