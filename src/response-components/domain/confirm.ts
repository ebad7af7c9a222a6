import { componentKind } from './component-kind.js';
import { fields, repeatedLabel, text } from './fields.js';
import { blocks, bullets, inline, multiline } from './markdown.js';

const schema = fields({
  question: text(500, 'What is asked.'),
  confirmLabel: text(60, 'The button that says yes.').default('Yes'),
  cancelLabel: text(60, 'The button that says no.').default('No'),
}).superRefine(({ confirmLabel, cancelLabel }, context) => {
  if (repeatedLabel([confirmLabel, cancelLabel]) === undefined) return;
  context.addIssue({
    code: 'custom',
    path: ['cancelLabel'],
    message: 'is the same as confirmLabel; the two must differ',
  });
});

export const confirm = componentKind({
  name: 'confirm',
  description:
    'Shows the user a question with two buttons, one for yes and one for no. What they choose comes as their next message.',
  schema,
  fallback: ({ question, confirmLabel, cancelLabel }) =>
    blocks(multiline(question), bullets([inline(confirmLabel), inline(cancelLabel)])),
  since: () => [0, 3, 0],
});
