import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';

/** Node's types lack that `toString` returns the frame as a line of a stack. */
interface Frame {
  toString(): string;
}

const POSITION = /(file:\/\/[^\s()]+\.js):(\d+):(\d+)/g;
/** By the URL of the file; undefined for a file without a map. */
const maps = new Map<string, SourceMap | undefined>();

/**
 * Makes stacks name the lines of the sources. Node's own option reads the maps of all loaded files, which takes half a second at every
 * start. This reads only the maps of the files in a stack, when the stack is used.
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
    // The file belongs to a package, or its map was not shipped.
    return undefined;
  }
}
