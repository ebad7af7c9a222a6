/** The id that the spans of a run have: 32 hexadecimal digits, the run's without its dashes. */
export function traceIdOf(runId: string): string {
  return runId.replaceAll('-', '').toLowerCase();
}
