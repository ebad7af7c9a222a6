/** What a child process says when it listens. */
export interface Listening {
  readonly port: number;
  readonly pid: number;
}

/** Tells the parent that this process listens, and ends this process with its parent. */
export function announce(listening: Listening): void {
  process.on('disconnect', () => process.exit(0));
  process.send?.(listening);
}
