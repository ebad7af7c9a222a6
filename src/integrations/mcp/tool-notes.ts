/** Stands in a tool's output for what is left out of it. */
export function noteOf(what: string): string {
  return `[${what} is left out.]`;
}
