/** Icons of the conversation alone, like `ICONS`. */
export const MESSAGE_ICONS = {
  clock:
    'M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm0 18a8 8 0 1 1 0-16 8 8 0 0 1 0 16zm1-13h-2v6l4.8 2.9 1-1.7-3.8-2.2z',
  shield:
    'M12 1.5 3.5 5v6c0 5.2 3.6 9.9 8.5 11.3 4.9-1.4 8.5-6.1 8.5-11.3V5zM10.6 16 7 12.4 8.4 11l2.2 2.2L15.9 8l1.4 1.4z',
} as const;
