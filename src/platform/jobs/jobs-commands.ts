import { DomainError, ValidationFailed } from '../errors/index.js';
import { isUuid } from '../ids/index.js';
import { type OperatorCommand, type OperatorKernel, readArguments } from '../operator/index.js';
import { OutboxStore } from './outbox-store.js';

const FAILED = '--failed';

/** The operator's commands for jobs that wait and for those whose last attempt has failed. */
export function jobCommands({ open, clock }: OperatorKernel): OperatorCommand[] {
  const store = new OutboxStore(open.database, clock);
  return [
    {
      name: 'jobs list',
      usage: 'jobs list [--failed] [--name <job>]',
      run: async (args) => {
        const { options } = readArguments(args.filter((arg) => arg !== FAILED), { options: ['name'] });
        return { jobs: await store.list(args.includes(FAILED), options.name) };
      },
    },
    {
      name: 'jobs retry',
      usage: 'jobs retry <id>',
      run: async (args) => {
        const { positionals } = readArguments(args, { options: [], positionals: ['id'] });
        const id = positionals[0] ?? '';
        if (!isUuid(id)) throw new ValidationFailed(`id: '${positionals.join()}' is not an id (a UUID)`);
        if (!(await store.retry(id))) throw await refusal(store, id);
        return { id: id.toLowerCase(), state: 'pending' };
      },
    },
  ];
}

async function refusal(store: OutboxStore, id: string): Promise<DomainError> {
  return (await store.exists(id))
    ? new DomainError('conflict', `The job ${id} has not failed for the last time: it waits or runs, and is tried again by itself.`)
    : new DomainError('not_found', `There is no job ${id}: it is done, or was never there.`);
}
