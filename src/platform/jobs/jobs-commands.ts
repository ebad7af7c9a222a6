import type { OperatorCommand } from '../command-line/index.js';

export const jobCommands: readonly OperatorCommand[] = [
  {
    name: 'jobs list',
    about: 'Lists background jobs that wait.',
    options: [
      { name: 'failed', about: 'lists the jobs whose last attempt has failed instead' },
      { name: 'name', value: '<job>', about: 'only jobs of this name' },
    ],
    handler: async () => (await import('./jobs-handlers.js')).listJobs,
  },
  {
    name: 'jobs retry',
    about: 'Retries a job whose last attempt has failed, as if it were new.',
    positionals: ['id'],
    handler: async () => (await import('./jobs-handlers.js')).retryJob,
  },
];
