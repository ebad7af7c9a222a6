export { builtFile } from './built-file.js';
export { DiskFileStore } from './disk-file-store.js';
export {
  FileStore,
  FileStoreUnavailable,
  FileTooLarge,
  type PutOptions,
  type ReadableFile,
  type StoredFile,
} from './file-store.js';
export { FileStoreModule } from './file-store.module.js';
export { type TempUpload, TempUploads } from './temp-uploads.js';
