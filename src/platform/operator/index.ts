export { type OperatorAnswer } from './operator-answer.js';
export { type OperatorLine, runOperatorLine } from './operator-line.js';
export { OperatorServer } from './operator-server.js';
