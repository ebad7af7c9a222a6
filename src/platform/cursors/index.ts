export { Cursors, type CursorScope } from './cursors.js';
export { CursorsModule } from './cursors.module.js';
