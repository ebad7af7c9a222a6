import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';

/** The types of Node leave out that a frame writes itself as a line of a stack. */
interface Frame {
  toString(): string;
}

const POSITION = /(file:\/\/[^\s()]+\.js):(\d+):(\d+)/g;
/** By the address of the file that they describe; undefined for one without a map. */
const maps = new Map<string, SourceMap | undefined>();

/**
 * Stacks name the lines of the sources. Node's own option for it reads the maps of all that is loaded, which takes half a
 * second at every start; here an error that is written somewhere reads those of its own stack.
 */
export function mapStacks(): void {
  Error.prepareStackTrace = (error, frames) =>
    [Error.prototype.toString.call(error), ...frames.map((frame: Frame) => `    at ${mapped(frame.toString())}`)].join(
      '\n',
    );
}

function mapped(frame: string): string {
  return frame.replace(POSITION, (position, file: string, line: string, column: string) => {
    const origin = mapOf(file)?.findOrigin(Number(line), Number(column));
    if (!origin || !('fileName' in origin) || origin.fileName === '') return position;
    return `${new URL(origin.fileName, file).href}:${origin.lineNumber}:${origin.columnNumber}`;
  });
}

function mapOf(file: string): SourceMap | undefined {
  if (!maps.has(file)) maps.set(file, readMap(file));
  return maps.get(file);
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(new URL(`${file}.map`), 'utf8')) as SourceMapPayload);
  } catch {
    // Of a package, or not shipped: the position in what was built has to do.
    return undefined;
  }
}
