/** Of one test file; a cause is rarely older than this many further errors. */
const MOST = 10;
/** Characters of one, which has the message and the first frames of its stack. */
const LENGTH = 600;

let lines: string[] = [];

/** Where a service of a test logs its errors, unless the test reads the log itself. */
export const loggedErrors = {
  write(line: string): void {
    lines.push(line.trimEnd().slice(0, LENGTH));
    if (lines.length > MOST) lines.shift();
  },
};

/** The newest errors that services have logged since the last call. */
export function takeLoggedErrors(): string[] {
  const taken = lines;
  lines = [];
  return taken;
}
