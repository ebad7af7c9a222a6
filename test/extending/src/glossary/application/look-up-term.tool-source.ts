import { Injectable } from '@nestjs/common';
import { type OfferedTool, type RunContext, ToolSource } from '../../../../../src/conversations/index.js';
import { type Counter, Metrics } from '../../../../../src/platform/metrics/index.js';
import { ReadTerms } from './read-terms.js';

const DEFINITION = {
  name: 'look_up_term',
  description: 'Says what a word means in this organization.',
  inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
};

@Injectable()
export class LookUpTerm extends ToolSource {
  private readonly lookUps: Counter<'outcome'>;

  constructor(
    private readonly terms: ReadTerms,
    metrics: Metrics,
  ) {
    super();
    this.lookUps = metrics.counter({
      name: 'agent_service_glossary_look_ups_total',
      help: 'Words that agents looked up, by whether the glossary has them.',
      labels: { outcome: ['found', 'missing'] },
    });
  }

  async offer({ organizationId }: RunContext): Promise<readonly OfferedTool[]> {
    const terms = await this.terms.of(organizationId);
    if (terms.length === 0) return [];
    const call: OfferedTool['call'] = ({ name }) => {
      const term = terms.find((known) => known.name === name);
      this.lookUps.inc({ outcome: term ? 'found' : 'missing' });
      const output = term ? (term.summary ?? term.definition) : `The glossary lacks the word ${String(name)}.`;
      return Promise.resolve({ output, isError: !term });
    };
    return [{ definition: DEFINITION, step: 'retrieval', effect: 'exempt', call }];
  }
}
