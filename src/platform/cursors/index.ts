export { Cursors, CursorsModule, type CursorScope, type Page } from './cursors.js';
