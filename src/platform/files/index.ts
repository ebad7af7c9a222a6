export { builtFile, builtFileNames } from './built-file.js';
export { FileStore, FileStoreUnavailable, FileTooLarge } from './file-store.js';
export { FileStoreModule } from './file-store.module.js';
export { type TempUpload, TempUploads } from './temp-uploads.js';
