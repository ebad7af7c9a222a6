import type { ConversationSummary } from '../client/options.js';
import { cover } from './cover.js';
import { button, ICONS, iconButton, make } from './dom.js';
import { relativeDate } from './relative-date.js';
import type { ViewContext } from './view-context.js';

/** The visitor's conversations, over the panel. Resolves with the id of the chosen thread, or with null if the visitor went back. */
export function chooseConversation(
  panel: HTMLElement,
  { chat, strings, locale, announce }: ViewContext,
): Promise<string | null> {
  return new Promise((resolve) => {
    const choose = (threadId: string | null): void => {
      uncover();
      resolve(threadId);
    };
    const body = make('div', { className: 'history-body' });
    const say = (text: string, ...more: Node[]): void => {
      body.replaceChildren(make('p', { className: 'history-note', text }), ...more);
      announce(text);
    };
    const load = async (): Promise<void> => {
      say(strings.connecting);
      back.focus();
      try {
        const found = await chat.listConversations();
        const items = found.map((summary) => itemOf(summary, chat.state.threadId));
        if (items.length === 0) say(strings.noConversations);
        else body.replaceChildren(make('ul', { className: 'history-list' }, ...items));
      } catch {
        say(
          strings.failedConversations,
          button(strings.tryAgain, () => void load()),
        );
      }
    };
    const itemOf = ({ threadId, title, updatedAt }: ConversationSummary, current: string | null): HTMLElement => {
      const isCurrent = threadId === current;
      const date = updatedAt === null ? '' : relativeDate(updatedAt, Date.now(), locale);
      const detail = [isCurrent ? strings.currentConversation : '', date].filter((text) => text !== '').join(' · ');
      const item = button('', () => choose(isCurrent ? null : threadId), {
        className: 'history-item',
        attributes: isCurrent ? { 'aria-current': 'true' } : {},
      });
      item.append(
        make('span', {
          className: 'history-title',
          text: title ?? strings.untitledConversation,
          attributes: { dir: 'auto' },
        }),
        make('small', { className: 'history-detail', text: detail }),
      );
      return make('li', {}, item);
    };
    const back = iconButton(strings.back, ICONS.back, () => choose(null), { className: 'icon-button back' });
    const title = make('h2', { className: 'heading', text: strings.conversations, attributes: { id: 'history' } });
    const view = make(
      'section',
      { className: 'history', attributes: { 'aria-labelledby': 'history' } },
      make('div', { className: 'header' }, back, title),
      body,
    );
    const uncover = cover(panel, view, () => choose(null));
    void load();
  });
}
