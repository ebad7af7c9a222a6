import type { Settings, Visitor } from './options.js';
import type { Ownership } from './ownership.js';
import { Refusal, WidgetServerError } from './problems.js';
import type { Call } from './routes.js';
import { type Remembered, rememberedOf } from './store.js';

const MAX_LISTED = 50;
/** Reads of the service at a time, for conversations that the store has no title of. */
const READ_AT_A_TIME = 10;

/** The visitor's list of conversations, in the store of the customer. */
export class Conversations {
  private readonly settings: Settings;
  private readonly ownership: Ownership;

  constructor(settings: Settings, ownership: Ownership) {
    this.settings = settings;
    this.ownership = ownership;
  }

  /** If the store fails, the visitor can chat all the same, and only the list lacks the conversation. */
  async add({ id }: Visitor, threadId: string): Promise<void> {
    try {
      await this.settings.conversations?.add(id, threadId);
    } catch (cause) {
      this.settings.report(new WidgetServerError('conversations.add has failed', { cause }));
    }
  }

  /** `GET /conversations`, a route with a store only @throws Refusal */
  async list({ request, visitor }: Call): Promise<Response> {
    const stored = newestFirst(await rememberedOf(this.settings, visitor)).slice(0, MAX_LISTED);
    const shown: Remembered[] = [];
    for (let start = 0; start < stored.length; start += READ_AT_A_TIME) {
      const group = stored.slice(start, start + READ_AT_A_TIME);
      const read = await Promise.all(group.map((conversation) => this.complete(conversation, request.signal)));
      shown.push(...read.filter((conversation) => conversation !== null));
    }
    return Response.json({ conversations: newestFirst(shown) });
  }

  /** @returns null for a conversation that has no message, or no longer exists */
  private async complete(stored: Remembered, signal: AbortSignal): Promise<Remembered | null> {
    const { threadId, title, updatedAt } = stored;
    if (title !== null && updatedAt !== null) return { threadId, title, updatedAt };
    try {
      const thread = await this.ownership.read(threadId, signal);
      const last = thread?.['lastMessageAt'];
      if (!thread || typeof last !== 'string') return null;
      const named = thread['title'];
      return { threadId, title: title ?? (typeof named === 'string' ? named : null), updatedAt: updatedAt ?? last };
    } catch (error) {
      // Has been reported. The list is of use without the titles.
      if (error instanceof Refusal) return { threadId, title, updatedAt };
      throw error;
    }
  }
}

/** Keeps the order of those without a time, behind the others. */
function newestFirst<Item extends Remembered>(items: readonly Item[]): Item[] {
  const timeOf = ({ updatedAt }: Item): number => {
    const time = Date.parse(updatedAt ?? '');
    return Number.isNaN(time) ? 0 : time;
  };
  return items.toSorted((one, other) => timeOf(other) - timeOf(one));
}
