/** Bytes that are there already, for what reads them as they come. */
export async function* onePart(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
