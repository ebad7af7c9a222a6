export { named, namedBy, readStored, sent, type Stored, storedObject, UnreadableJson } from './stored-json.js';
