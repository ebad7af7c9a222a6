/** What class-transformer's decorators were told; the package has types of it, though not where it is loaded from. */
declare module 'class-transformer/cjs/storage.js' {
  export { defaultMetadataStorage } from 'class-transformer/types/storage.js';
}
