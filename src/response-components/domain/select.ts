import { componentKind } from './component-kind.js';
import { fields, listOf, repeatedLabel, text } from './fields.js';
import { blocks, bold, bullets, inline, multiline } from './markdown.js';

const option = fields({
  label: text(80, 'What the button says, and what the user answers by choosing it.'),
  description: text(200, 'What choosing it means, where the label does not say it.').optional(),
});

const options = listOf(
  option,
  { min: 2, max: 10 },
  'What the user can choose from; no two labels are the same.',
).superRefine((all, context) => {
  const repeated = repeatedLabel(all.map(({ label }) => label));
  if (repeated !== undefined)
    context.addIssue(`has the label ${JSON.stringify(repeated)} twice; all labels must differ`);
});

export const select = componentKind({
  name: 'select',
  description:
    'Shows the user a question with a button for each of several options, of which they choose one. What they choose comes as their next message.',
  schema: fields({ question: text(500, 'What is asked.'), options }),
  fallback: (props) =>
    blocks(
      multiline(props.question),
      bullets(
        props.options.map(({ label, description }) =>
          description === undefined ? inline(label) : `${bold(label)}: ${inline(description)}`,
        ),
      ),
    ),
  since: () => [0, 3, 0],
});
