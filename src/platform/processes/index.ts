export { ChildProcess, type ProcessEnd } from './child-process.js';
export { ChildProcesses, ProcessNotStarted } from './child-processes.js';
export { PrivateFolders } from './private-folders.js';
export { realPath } from './real-path.js';
