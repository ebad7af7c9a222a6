import { DomainError } from '../errors/index.js';
import { type CommandHandler, idArgument } from '../command-line/index.js';
import { OutboxStore } from './outbox.sql.js';

export const listJobs: CommandHandler = async ({ open, clock }, { options, switches }) => {
  const store = new OutboxStore(open.database, clock);
  return { jobs: await store.list(switches.has('failed'), options.name) };
};

export const retryJob: CommandHandler = async ({ open, clock }, { positionals }) => {
  const id = idArgument('id', positionals[0]);
  const isRetried = await new OutboxStore(open.database, clock).retry(id);
  if (isRetried === undefined)
    throw new DomainError('not_found', `There is no job ${id}: it is done or never existed.`);
  if (!isRetried) {
    throw new DomainError(
      'conflict',
      `The job ${id} has not failed for the last time: it waits or runs, and is retried by itself.`,
    );
  }
  return { id, state: 'pending' };
};
