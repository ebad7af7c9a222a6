/** Waits for all of them, even when one fails, so that no work of a slice is left running at its end. @throws the first failure */
export async function settleAll(parts: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(parts);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}
