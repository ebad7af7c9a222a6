export { namedBy, readStored, sentObject, type Stored, storedObject, UnreadableJson } from './stored-json.js';
