/** What a page decides about the look of the widget, by attributes. */
export interface Look {
  /** The agent's name, in the header and before its messages for screen readers. */
  readonly name: string;
  readonly subtitle: string | null;
  /** URL of a picture; null for the first letter of the name. */
  readonly avatar: string | null;
  /** The agent's first message, which is not part of the conversation. */
  readonly greeting: string;
  readonly placeholder: string;
  /** Questions that a visitor may begin with. */
  readonly starters: readonly string[];
  /** Shown beside the button of a closed widget; null for none. */
  readonly teaser: string | null;
  /** URL of a picture; null for the built-in icon. */
  readonly launcherIcon: string | null;
  /** A text on the button; null for a round button with an icon alone. */
  readonly launcherLabel: string | null;
  /** Whether a reply that arrives may sound; the visitor can change it. */
  readonly hasSound: boolean;
  /** Origins whose images are shown without a click. */
  readonly imageOrigins: ReadonlySet<string>;
}
