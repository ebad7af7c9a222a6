import { describe, expect, it } from '@jest/globals';
import { MAX_COMPONENTS, TurnLimits } from './turn-limits.js';

describe('a turn', () => {
  it('at low shows buttons of either kind once; other components are not limited', () => {
    const limits = new TurnLimits('low', []);
    expect(limits.refusal('select')).toBeNull();
    limits.noteShown('select');
    for (const name of ['confirm', 'select'] as const) expect(limits.refusal(name)).toContain('only once');
    for (const name of ['card', 'list'] as const) expect(limits.refusal(name)).toBeNull();
  });

  it.each(['medium', 'high'] as const)('shows buttons again at %s', (frequency) => {
    const limits = new TurnLimits(frequency, [{ name: 'present_confirm', failed: false }]);
    limits.noteShown('confirm');
    expect(limits.refusal('confirm')).toBeNull();
  });

  it('counts the buttons of its earlier runs, whose list is filled later, except failed calls', () => {
    const earlier = [{ name: 'present_select', failed: true }];
    const limits = new TurnLimits('low', earlier);
    expect(limits.refusal('confirm')).toBeNull();
    earlier.push({ name: 'present_card', failed: false }, { name: 'pay', failed: false });
    expect(limits.refusal('confirm')).toBeNull();
    earlier.push({ name: 'present_confirm', failed: false });
    expect(limits.refusal('confirm')).toContain('only once');
  });

  it('shows nothing after two wrong calls, including those of earlier runs', () => {
    const limits = new TurnLimits('high', []);
    expect(limits.noteWrong()).toContain('once more');
    expect(limits.refusal('card')).toBeNull();
    expect(limits.noteWrong()).toContain('plain text');
    expect(limits.refusal('card')).toContain('plain text');

    const resumed = new TurnLimits('high', [
      { name: 'present_card', failed: true },
      { name: 'pay', failed: true },
    ]);
    expect(resumed.refusal('card')).toBeNull();
    expect(resumed.noteWrong()).toContain('plain text');
    expect(resumed.refusal('list')).toContain('plain text');
  });

  it('counts the components of its earlier runs', () => {
    const earlier = Array.from({ length: MAX_COMPONENTS }, () => ({ name: 'present_card', failed: false }));
    expect(new TurnLimits('high', earlier).refusal('list')).toContain(String(MAX_COMPONENTS));
    expect(new TurnLimits('high', earlier.slice(1)).refusal('list')).toBeNull();
  });

  it('limits the components of one run', () => {
    const limits = new TurnLimits('high', []);
    for (let shown = 0; shown < MAX_COMPONENTS; shown += 1) {
      expect(limits.refusal('card')).toBeNull();
      limits.noteShown('card');
    }
    expect(limits.refusal('card')).toContain(String(MAX_COMPONENTS));
  });
});
