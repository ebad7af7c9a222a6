import type { FolderHandler } from '../command-line/index.js';
import { restoreBackup } from './restore-backup.js';

export const restore: FolderHandler = (host, { positionals: [file = ''] }) => restoreBackup(host, file);
