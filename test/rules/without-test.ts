/** What the documents say and no test asserts, or the product does in another way, each with its reason. */
export const withoutTest: readonly { what: string; reason: string }[] = [
  { what: 'Setup warns of SQLite.', reason: 'The product runs on PostgreSQL alone, which setup names.' },
  {
    what: 'Thresholds of 1000000 for $5.',
    reason:
      '1000000 units are $2. The dollars are offered: 0.2, 1, 5 and 10, which are 100000, 500000, 2500000 and 5000000.',
  },
  {
    what: 'A failed callback leads to the settings of the system.',
    reason:
      'Whoever may not open them goes to the personal settings, and who is signed out to the login, with the message.',
  },
  {
    what: 'The footer is read again five times, every 200 ms.',
    reason: 'It is drawn from the status, and anew whenever the status changes: there is nothing to wait for.',
  },
  {
    what: 'The names footer_html, chats, enable_drawing, enable_task, enable_data_export and message-page-size in the local storage.',
    reason:
      'One entry, `status`, holds what the site is, and page-size is that of messages too; the names user, status, page-size, aff, theme-mode and i18nextLng are kept.',
  },
  {
    what: 'The log begins with a window that ends in an hour.',
    reason: 'It begins with the last seven days and has no end, so rows that come are seen.',
  },
  {
    what: 'Text areas have 6 to 12 rows.',
    reason: 'A matter of the look: those of the settings have 6, tables of prices 12, and grow with their text.',
  },
  {
    what: 'The form reference error.',
    reason: 'Forms here hold no reference that could be lost.',
  },
  {
    what: '“Chat data parse failed”, “Failed to load status”.',
    reason:
      'Chat links are validated when they are saved, and what a page needs of the status is remembered: neither can fail there.',
  },
  {
    what: 'A public assets host of default ratios.',
    reason: 'The price catalogue is part of the product and asked of its own server.',
  },
  {
    what: '“The super administrator has not set a top-up link.”',
    reason: 'Without a link its button is not drawn: there is nothing to press that would have to say so.',
  },
]
