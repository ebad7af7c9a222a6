/** The metadata of class-transformer's decorators. The package has types for this file, but not at the path that it is loaded from. */
declare module 'class-transformer/cjs/storage.js' {
  export { defaultMetadataStorage } from 'class-transformer/types/storage.js';
}
