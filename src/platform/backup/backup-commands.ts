import type { OperatorCommand } from '../command-line/index.js';

export const backupCommands: readonly OperatorCommand[] = [
  {
    name: 'backup',
    about: 'Writes the database, the uploads and the key of the secrets in DATA_DIR into one new file.',
    positionals: ['file'],
    takesPaths: true,
    keepsSchema: true,
    makesNoDatabase: true,
    handler: async () => (await import('./backup-handlers.js')).backUp,
  },
  {
    name: 'restore',
    about: 'Fills an empty DATA_DIR, which no service uses, with a backup.',
    positionals: ['file'],
    takesPaths: true,
    folderHandler: async () => (await import('./restore-handler.js')).restore,
  },
];
