import { describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { HeldReply } from '../../support/scripted-models.js';
import { ShiftedClock } from '../../support/shifted-clock.js';
import { Talk } from '../../support/talk.js';

const HOUR_MS = 3_600_000;

const clock = new ShiftedClock();
const service = useService({ clock });

interface Timed {
  readonly latencyMs: number;
  readonly timeToFirstTokenMs: number;
  readonly steps: readonly { readonly latencyMs: number }[];
}

describe('a change of the wall clock during a run', () => {
  it.each([
    ['forth', HOUR_MS],
    ['back', -HOUR_MS],
  ])('%s by an hour changes no duration', async (_way, ms) => {
    const talk = await Talk.start(service);
    const held = new HeldReply([], ['Hello']);
    service.models.next(held.script);
    const answered = talk.run<{ run: { createdAt: string; completedAt: string } }>('Hi');
    await held.asked;
    clock.jump(ms);
    held.finish();
    const { run } = (await answered).body;
    // Lists do not return traces that start in the future.
    clock.jump(-ms);

    const trace = (await talk.trace()) as unknown as Timed;
    for (const took of [trace.latencyMs, trace.timeToFirstTokenMs, ...trace.steps.map(({ latencyMs }) => latencyMs)]) {
      expect(took).toBeGreaterThanOrEqual(0);
      expect(took).toBeLessThan(60_000);
    }
    expect(Date.parse(run.completedAt)).toBeGreaterThanOrEqual(Date.parse(run.createdAt));
  });
});
