import { expect, it } from '@jest/globals';
import { NotingTool } from '../../support/approvals.js';
import { useService } from '../../support/harness.js';
import { answers, says } from '../../support/scripted-models.js';
import { during, scriptedRuns } from '../../support/scripted-runs.js';
import { Talk } from '../../support/talk.js';
const lines: string[] = [];
const service = useService({ extensions: scriptedRuns, environment: { LOG_LEVEL: 'warn' }, log: { write: (line: string) => void lines.push(line) } as never });
it('real', async () => {
  const talk = await Talk.start(service, { provider: { type: 'claude-agent-sdk' } });
  const pay = new NotingTool('pay');
  during(talk.threadId, { tools: [pay.offered] });
    const sums = Array.from({ length: 75 }, (_, sum) => sum);
    const rounds = [sums.slice(0, 25), sums.slice(25, 50), sums.slice(50)];
    service.models.next(
      ...rounds.map((round) => answers({ calls: round.map((sum) => ({ id: `c${sum}`, name: 'pay', input: { sum } })) })),
      says('Paid.'),
    );
  const began = performance.now();
  const { body } = await talk.run('Pay');
  process.stderr.write(JSON.stringify({ body: body.run, ms: performance.now() - began, n: pay.inputs.length, lines }).slice(0, 6000) + '\n');
  expect(body.run).toMatchObject({ status: 'completed' });
});
