/** Waits for all of them, also where one fails: what still works must not come after its slice's end. @throws the first failure */
export async function allEnded(parts: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(parts);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}
