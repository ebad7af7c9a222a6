import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const RULES = 'ops/alert-rules.yml';
const CASES = 'ops/alert-rules.test.yml';

/** Prometheus' own checker, of Debian's package `prometheus`. */
const isInstalled = spawnSync('promtool', ['--version']).status === 0;
const checked = isInstalled ? describe : describe.skip;

function promtool(...words: string[]): string {
  return execFileSync('promtool', words, { encoding: 'utf8', stdio: 'pipe' });
}

checked(`the alert rules${isInstalled ? '' : ' (not checked: promtool is not installed)'}`, () => {
  it('are rules of Prometheus', () => {
    expect(promtool('check', 'rules', RULES)).toContain('SUCCESS');
  });

  it("fire each in its case, and none for a customer's own key, endpoints and limits", () => {
    expect(promtool('test', 'rules', CASES)).toContain('SUCCESS');
  });
});

it('every alert has a case in which it fires', () => {
  const alerts = [...readFileSync(RULES, 'utf8').matchAll(/- alert: (\w+)/g)].map(([, alert]) => alert);
  const fired = new Set(
    [...readFileSync(CASES, 'utf8').matchAll(/alertname: (\w+)\n\s+exp_alerts:/g)].map(([, alert]) => alert),
  );
  expect(alerts.length).toBeGreaterThan(10);
  expect(alerts.filter((alert) => !fired.has(alert))).toEqual([]);
});
