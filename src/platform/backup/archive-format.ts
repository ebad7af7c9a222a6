import { sep } from 'node:path';
import { z } from 'zod';
import { KEY_FILES } from '../vault/index.js';

/*
 * A backup is a tar archive, compressed with zstd: a description, then the files by their path below DATA_DIR, then their digests. A path
 * may occur more than once; the last one counts. A file without a digest was removed while the backup was made.
 */

/** The first entry. */
export const DESCRIPTION = 'backup.json';
/** The last entry, which a truncated archive lacks. */
export const DIGESTS = 'digests.json';

const FORMAT = 1;

export const backupDescription = z.object({
  format: z.literal(FORMAT),
  /** The version of the service that made the backup. */
  service: z.string(),
  /** The name of the newest migration of the database, null for a database without tables. */
  schema: z.string().nullable(),
  createdAt: z.iso.datetime(),
});

export const backupDigests = z.record(z.string(), z.string());

export type BackupDescription = z.output<typeof backupDescription>;

export const describeBackup = (about: Omit<BackupDescription, 'format'>): BackupDescription => ({
  format: FORMAT,
  ...about,
});

/** What a backup holds of DATA_DIR: the rest belongs to a process. */
export const DATABASE = 'database';
export const FILES = 'files';
/** What local tool servers keep. */
export const INTEGRATIONS = 'integrations';

export const CONTENTS = [DATABASE, FILES, INTEGRATIONS] as const;

const KEY_PATHS: readonly string[] = Object.values(KEY_FILES);

/** On Windows these lead elsewhere; on other systems they are characters of a name. */
const LEADS_ELSEWHERE = sep === '/' ? /\0/ : /[\\:\0]/;

/** Whether a path, below DATA_DIR and with slashes, is one of what a backup holds. It leads to no other folder. */
export function isPathOfBackup(path: string): boolean {
  if (KEY_PATHS.includes(path)) return true;
  const segments = path.split('/');
  return (
    CONTENTS.some((folder) => folder === segments[0]) &&
    segments.every((segment) => !['', '.', '..'].includes(segment) && !LEADS_ELSEWHERE.test(segment))
  );
}

/**
 * Whether a link leads to something in the folder of its own tool server, also where other such links are on its way: it goes up, through
 * folders, and then down.
 */
export function staysWithItsServer(path: string, target: string): boolean {
  const [top, , ...below] = path.split('/');
  const steps = target.split('/').filter((step) => step !== '.');
  const firstDown = steps.findIndex((step) => step !== '..');
  const up = firstDown === -1 ? steps.length : firstDown;
  return (
    top === INTEGRATIONS &&
    up < below.length &&
    steps.slice(up).every((step) => step !== '' && step !== '..' && !LEADS_ELSEWHERE.test(step))
  );
}
