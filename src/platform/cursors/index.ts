export { Cursors, type Page, CursorsModule, type CursorScope } from './cursors.js';
