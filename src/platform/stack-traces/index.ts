export { mapStacks } from './map-stacks.js';
