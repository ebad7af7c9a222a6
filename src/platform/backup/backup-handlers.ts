import type { CommandHandler } from '../command-line/index.js';
import { makeBackup } from './make-backup.js';

export const backUp: CommandHandler = ({ settings, open, clock, printProgress }, { positionals: [file = ''] }) =>
  makeBackup({ settings, open, clock, ...(printProgress && { printProgress }) }, file);
