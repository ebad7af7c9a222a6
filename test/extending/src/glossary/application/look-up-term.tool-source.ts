import { Injectable } from '@nestjs/common';
import { type OfferedTool, type RunContext, ToolSource } from '../../../../../src/conversations/index.js';
import { ReadTerms } from './read-terms.js';

const DEFINITION = {
  name: 'look_up_term',
  description: 'Says what a word means in this organization.',
  inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
};

@Injectable()
export class LookUpTerm extends ToolSource {
  constructor(private readonly terms: ReadTerms) {
    super();
  }

  async offer({ organizationId }: RunContext): Promise<readonly OfferedTool[]> {
    const terms = await this.terms.of(organizationId);
    if (terms.length === 0) return [];
    const call: OfferedTool['call'] = ({ name }) => {
      const term = terms.find((known) => known.name === name);
      const output = term ? (term.summary ?? term.definition) : `The glossary lacks the word ${String(name)}.`;
      return Promise.resolve({ output, isError: !term });
    };
    return [{ definition: DEFINITION, step: 'retrieval', effect: 'exempt', call }];
  }
}
