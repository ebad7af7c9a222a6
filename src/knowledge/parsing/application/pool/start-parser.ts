import { fileURLToPath } from 'node:url';
import { type ChildProcess, type ChildProcesses, realPath } from '../../../../platform/processes/index.js';
import { PARSER_HEAP_MIB, PARSER_NICENESS } from '../../limits.js';

const ENTRY = fileURLToPath(new URL('../child/main.js', import.meta.url));
/** Where the program is installed, and what of it a parser has to read. */
const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url));
const PROGRAM = ['dist', 'node_modules', 'package.json'];

/** The program, or a part of it, may have been reached through a link: that is looked up where it stands, and read where it leads to. */
function readable(root: string): string[] {
  return [...new Set(PROGRAM.map((name) => `${root}${name}`).flatMap((path) => [path, realPath(path)]))];
}

/** Starts this program's parser: it may read the program, write nothing and start nothing. */
export function startParser(processes: ChildProcesses): Promise<ChildProcess> {
  return processes.start({
    command: process.execPath,
    args: [
      `--max-old-space-size=${PARSER_HEAP_MIB}`,
      '--disallow-code-generation-from-strings',
      '--permission',
      ...readable(`${realPath(ROOT)}/`).map((path) => `--allow-fs-read=${path}`),
      realPath(ENTRY),
    ],
    env: {},
    folder: realPath(ROOT),
    niceness: PARSER_NICENESS,
    boundsItself: true,
  });
}
