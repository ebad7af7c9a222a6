/** What must not happen. */
export interface Finding {
  readonly kind: string;
  readonly at: string;
  readonly text: string;
  readonly evidence: Readonly<Record<string, unknown>>;
}

/** Of one kind, the rest is only counted. */
const KEPT_OF_A_KIND = 20;

/** All findings of a run. */
export class Findings {
  readonly kept: Finding[] = [];
  readonly counts: Record<string, number> = {};
  private readonly writeLine: (line: string) => void;

  constructor(writeLine: (line: string) => void) {
    this.writeLine = writeLine;
  }

  add(kind: string, text: string, evidence: Readonly<Record<string, unknown>> = {}): void {
    const count = (this.counts[kind] ?? 0) + 1;
    this.counts[kind] = count;
    if (count > KEPT_OF_A_KIND) return;
    this.kept.push({ kind, at: new Date().toISOString(), text, evidence });
    this.writeLine(`FOUND ${kind}: ${text} ${JSON.stringify(evidence).slice(0, 600)}`);
  }
}
