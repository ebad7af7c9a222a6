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
  @IntegerField({
    min: 1,
    max: 50,
    optional: true,
    description: "Replaces the agent's own setting, as the next two do.",
  })
  readonly maxResults?: number;
  @NumberField({
    min: 0,
    max: 1,
    optional: true,
    description:
      'Results that score lower are dropped. If neither the request nor the agent sets a threshold, the default never drops all results: the best three above half of it remain. ' +
      'The default drops nothing if meaning cannot be compared; a search with weight 0 is not such a case.',
  })
  readonly scoreThreshold?: number;
  @NumberField({ min: 0, max: 1, optional: true, description: '0 searches by keywords alone, 1 by meaning alone.' })
  readonly semanticWeight?: number;
}

export class KnowledgeResultResponse {
  @UuidField({ description: 'Id of the page or file; an uploaded file is listed under this id.' })
  readonly sourceId!: string;
  @EnumField(SOURCE_KINDS, { description: 'The kind of the source.' })
  readonly kind!: string;
  @StringField({ description: 'Title of the page, or name of the file.' })
  readonly title!: string;
  @StringField({
    nullable: true,
    description:
      'The address of the source, for a page with the anchor nearest above the text; null for uploaded files.',
  })
  readonly url!: string | null;
  @StringField({
    nullable: true,
    description: 'The headings above the text in one line, outermost first; null if there are none.',
  })
  readonly heading!: string | null;
  @StringListField({ description: 'The headings above the text, outermost first.' })
  readonly headings!: readonly string[];
  @IntegerField({ nullable: true, description: 'The page of a PDF or a presentation, from 1; null otherwise.' })
  readonly page!: number | null;
  @StringField({ description: 'The passage, as the model reads it.' })
  readonly text!: string;
  @NumberField({ description: '0 to 1.' })
  readonly score!: number;
  @NumberField({
    nullable: true,
    description:
      '0 to 1, calibrated to the model: unrelated texts score 0. Null if the text or the query has no vector.',
  })
  readonly semanticScore!: number | null;
  @NumberField({ description: '0 to 1; 0 if the text has no word of the query.' })
  readonly keywordScore!: number;
}

export class KnowledgeResultListResponse {
  @ObjectListField(() => KnowledgeResultResponse, { description: 'Best first.' })
  readonly results!: readonly KnowledgeResultResponse[];
}
