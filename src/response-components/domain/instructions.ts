import type { Frequency } from '../../agents/index.js';
import { type ComponentName, isChoice, toolNameOf } from './component-names.js';

const INTRODUCTION =
  'Besides text, your reply can show components, by the tools whose names begin with present_. The user sees a component as soon as its tool is called: do not repeat ' +
  'in text what it shows, and do not mention the tools.';

const CHOICES =
  'Buttons: present_confirm asks a question that is answered by yes or no, present_select lets the user choose one of several options. Their choice arrives as ' +
  'their next message, so end your reply with the buttons.';

const WHEN: Readonly<Record<Frequency, string>> = {
  off: 'Do not offer buttons.',
  low: 'Offer buttons only when what the user will say next is clearly one of a few concrete options, and at most once in a reply; otherwise ask in prose.',
  medium:
    'Offer buttons whenever what the user will say next is plausibly one of a few options; ask open questions in prose.',
  high: 'Offer buttons at every reasonable opportunity: whenever your reply ends in a question, in suggestions or in a choice.',
};

const OTHERS: readonly [ComponentName, string][] = [
  ['card', `Cards: use ${toolNameOf('card')} for one thing with its details.`],
  ['list', `Lists: use ${toolNameOf('list')} for several things of a kind.`],
];

/** The instructions on the components that the model may show; null if there are none. */
export function instructionsFor(offered: readonly ComponentName[], frequency: Frequency): string | null {
  if (offered.length === 0) return null;
  return [
    INTRODUCTION,
    // The frequency applies only to buttons.
    ...(offered.some(isChoice) ? [`${CHOICES} ${WHEN[frequency]}`] : []),
    ...OTHERS.flatMap(([name, text]) => (offered.includes(name) ? [text] : [])),
  ].join('\n\n');
}
