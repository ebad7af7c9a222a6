const LINE_FEED = 0x0a;

/** Splits what a process writes into lines. */
export class MessageLines {
  private parts: Buffer[] = [];
  private bytes = 0;

  /** @param onTooLong is called once for a line of more than `maxBytes`; nothing may be pushed after that */
  constructor(
    private readonly maxBytes: number,
    private readonly onTooLong: () => void,
  ) {}

  /** @returns the lines that `chunk` completes */
  push(chunk: Buffer): readonly string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      if (!this.take(chunk.subarray(start, end))) return lines;
      lines.push(Buffer.concat(this.parts).toString('utf8'));
      this.parts = [];
      this.bytes = 0;
      start = end + 1;
    }
    if (start < chunk.length) this.take(chunk.subarray(start));
    return lines;
  }

  private take(part: Buffer): boolean {
    this.bytes += part.length;
    if (this.bytes > this.maxBytes) {
      this.parts = [];
      this.onTooLong();
      return false;
    }
    this.parts.push(part);
    return true;
  }
}
