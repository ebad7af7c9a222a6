/** The message of a child process when it listens. */
export interface Listening {
  readonly port: number;
  readonly pid: number;
}

/** Reports to the parent that this process listens, and ends this process with its parent. */
export function announce(listening: Listening): void {
  process.on('disconnect', () => process.exit(0));
  process.send?.(listening);
}
