import { fileURLToPath } from 'node:url';
import { type ChildProcess, type ChildProcesses, realPath } from '../../../../platform/processes/index.js';
import { PARSER_HEAP_MIB, PARSER_NICENESS } from '../../limits.js';

const ENTRY = fileURLToPath(new URL('../child/main.js', import.meta.url));
/** The folder in which the program is installed, and the parts of it that a parser has to read. */
const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url));
const PROGRAM = ['dist', 'node_modules', 'package.json'];

/** The program or a part of it may be a link: Node checks the permission for the link and for its target. */
function readablePaths(root: string): string[] {
  return [...new Set(PROGRAM.map((name) => `${root}${name}`).flatMap((path) => [path, realPath(path)]))];
}

/** Starts a parser process. It may read the program, and may neither write files nor start processes. */
export function startParser(processes: ChildProcesses): Promise<ChildProcess> {
  return processes.start({
    command: process.execPath,
    args: [
      `--max-old-space-size=${PARSER_HEAP_MIB}`,
      '--disallow-code-generation-from-strings',
      '--permission',
      ...readablePaths(`${realPath(ROOT)}/`).map((path) => `--allow-fs-read=${path}`),
      realPath(ENTRY),
    ],
    env: {},
    folder: realPath(ROOT),
    niceness: PARSER_NICENESS,
    boundsItself: true,
  });
}
