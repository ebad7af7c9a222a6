export { Cursors, CursorsModule, type CursorScope } from './cursors.js';
