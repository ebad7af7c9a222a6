import { DomainError, ValidationFailed } from '../errors/index.js';
import { isUuid } from '../ids/index.js';
import type { CommandHandler } from '../command-line/index.js';
import { OutboxStore } from './outbox-store.js';

export const listJobs: CommandHandler = async ({ open, clock }, { options, switches }) => {
  const store = new OutboxStore(open.database, clock);
  return { jobs: await store.list(switches.has('failed'), options.name) };
};

export const retryJob: CommandHandler = async ({ open, clock }, { positionals }) => {
  const store = new OutboxStore(open.database, clock);
  const id = positionals[0] ?? '';
  if (!isUuid(id)) throw new ValidationFailed(`id: '${positionals.join()}' is not an id (a UUID)`);
  if (!(await store.retry(id))) throw await refusal(store, id);
  return { id: id.toLowerCase(), state: 'pending' };
};

async function refusal(store: OutboxStore, id: string): Promise<DomainError> {
  return (await store.exists(id))
    ? new DomainError('conflict', `The job ${id} has not failed for the last time: it waits or runs, and is tried again by itself.`)
    : new DomainError('not_found', `There is no job ${id}: it is done, or was never there.`);
}
