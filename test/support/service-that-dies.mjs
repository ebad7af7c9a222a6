// The built service with a tool `pay`, which notes each call in the file PAYMENTS; kills itself at the step DIE_AT of a turn.
import { appendFileSync } from 'node:fs';
import { built, startExtended } from './extended-service.mjs';

function step(name) {
  if (process.env.DIE_AT === name) process.kill(process.pid, 'SIGKILL');
}

class DyingPrompt {
  parts() {
    step('what the model is given is gathered');
    return Promise.resolve([]);
  }
}

class PayTool {
  offer() {
    const definition = { name: 'pay', description: 'Pays.', inputSchema: { type: 'object' } };
    const call = (input) => {
      appendFileSync(process.env.PAYMENTS, `${JSON.stringify(input)}\n`);
      step('a tool runs');
      return Promise.resolve({ output: 'paid', isError: false });
    };
    return Promise.resolve([{ definition, step: 'tool', call, effect: 'exempt' }]);
  }
}

class DyingHooks {
  beforePrompt() {
    step('the hooks are asked about the message');
    return Promise.resolve({ decision: 'continue', additionalContext: [] });
  }

  beforeToolCall() {
    step('a tool is about to run');
    return Promise.resolve({ decision: 'allow' });
  }

  afterToolCall() {
    step('a tool has run');
    return Promise.resolve([]);
  }

  beforeStop() {
    step('the reply is complete');
    return Promise.resolve({ decision: 'stop' });
  }
}

/** The runs of this process; it also ends those of its predecessors, at no step of a turn. */
const own = new Set();

class DyingObserver {
  record({ run }) {
    if (own.has(run.id)) step('the end is about to be stored');
    return [];
  }
}

const { RunRepository } = await built('conversations/persistence/run.repository.js');
const { start, checkpoint, finish } = RunRepository.prototype;
Object.assign(RunRepository.prototype, {
  async start(organizationId, run, ...more) {
    own.add(run.id);
    const started = await start.call(this, organizationId, run, ...more);
    step('the message is stored');
    return started;
  },
  async checkpoint(...given) {
    const stored = await checkpoint.apply(this, given);
    step('the tool calls are stored');
    return stored;
  },
  async finish(run, ...more) {
    const stored = await finish.call(this, run, ...more);
    if (own.has(run.id)) step('the end is stored');
    return stored;
  },
});

await startExtended({
  promptSources: [DyingPrompt],
  toolSources: [PayTool],
  hooks: [DyingHooks],
  observers: [DyingObserver],
});
