import type { Context } from '../platform/context/index.js';
import { FilesModule } from './files.module.js';
import { filesSchema } from './persistence/files.schema.js';

export const filesContext = { name: 'files', modules: [FilesModule], schema: filesSchema } satisfies Context;

export { FilesModule, filesSchema };
export { AttachmentFetcher } from './application/attachment-fetcher.js';
export { AttachmentMemory, memoryOf, type MemoryReservation } from './application/attachment-memory.js';
export { FileDirectory, type DirectoryFile } from './application/file-directory.js';
export { type FileHolder, FileHolders } from './application/file-holders.js';
export { fileNameOf } from './domain/file.js';
export { isImageType, mediaTypeOf, recognized } from './domain/media-type.js';
export { isDataUrl, readDataUrl } from './domain/data-url.js';
export type { AttachmentReference, FetchedAttachment } from './domain/attachment.js';
