import {
  EnumField,
  IntegerField,
  NumberField,
  ObjectListField,
  StringField,
  StringListField,
  UuidField,
} from '../../../platform/http/index.js';
import { SOURCE_KINDS } from '../domain/source-kind.js';
import { MAX_QUERY_LENGTH } from '../limits.js';

export class SearchKnowledgeBody {
  @StringField({ min: 1, max: MAX_QUERY_LENGTH, description: 'What to look for, in words or as a question.' })
  readonly query!: string;
  @IntegerField({ min: 1, max: 50, optional: true, description: "In place of the agent's own, as the two others." })
  readonly maxResults?: number;
  @NumberField({
    min: 0,
    max: 1,
    optional: true,
    description:
      'Results that score lower are dropped. The default of agents, where nobody has set a value, never empties an answer: the best three above half of it are given then. ' +
      'Where meaning cannot be compared it drops nothing; a search with weight 0 is no such case.',
  })
  readonly scoreThreshold?: number;
  @NumberField({ min: 0, max: 1, optional: true, description: '0 searches by keywords alone, 1 by meaning alone.' })
  readonly semanticWeight?: number;
}

export class KnowledgeResultResponse {
  @UuidField({ description: 'Of the page or file; an uploaded file is listed under this id.' })
  readonly sourceId!: string;
  @EnumField(SOURCE_KINDS, { description: 'Where the text comes from.' })
  readonly kind!: string;
  @StringField({ description: 'Title of the page, or name of the file.' })
  readonly title!: string;
  @StringField({
    nullable: true,
    description:
      'Where a person can look at it, of a page with the anchor nearest above the text; null for uploaded files.',
  })
  readonly url!: string | null;
  @StringField({
    nullable: true,
    description: 'The headings above the text in one line, outermost first; null where there are none.',
  })
  readonly heading!: string | null;
  @StringListField({ description: 'The headings above the text, outermost first.' })
  readonly headings!: readonly string[];
  @IntegerField({ nullable: true, description: 'Of a PDF or a presentation, from 1; null otherwise.' })
  readonly page!: number | null;
  @StringField({ description: 'The passage, as the model is given it.' })
  readonly text!: string;
  @NumberField({ description: '0 to 1.' })
  readonly score!: number;
  @NumberField({
    nullable: true,
    description:
      '0 to 1, calibrated to the model: 0 is as near as unrelated texts are. Null where the text or the query has no vector.',
  })
  readonly semanticScore!: number | null;
  @NumberField({ description: '0 to 1; 0 where it has no word of the query.' })
  readonly keywordScore!: number;
}

export class KnowledgeResultListResponse {
  @ObjectListField(() => KnowledgeResultResponse, { description: 'Best first.' })
  readonly results!: readonly KnowledgeResultResponse[];
}
