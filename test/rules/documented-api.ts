import type { RuleList } from './rule.ts'

const files = {
  access: 'test/contract/access.test.ts',
  auth: 'test/rest/auth.test.ts',
  channels: 'test/rest/channels.test.ts',
  epay: 'test/payments/epay.test.ts',
  lists: 'test/tasks/lists.test.ts',
  logs: 'test/rest/logs.test.ts',
  models: 'test/rest/models.test.ts',
  oauth: 'test/rest/oauth.test.ts',
  options: 'test/trpc/options.test.ts',
  site: 'test/rest/site.test.ts',
  tokens: 'test/rest/tokens.test.ts',
  users: 'test/rest/users.test.ts',
} as const

const rule = (text: string, file: keyof typeof files, test: string) => ({ rule: text, file: files[file], test })

/** What programs of the older console break on. */
export const rules: RuleList = {
  title: 'The documented API',
  sections: {
    'Refusals and sessions': [
      {
        ...rule(
          'Nobody signed in is 401; a role that does not suffice, a ban and every other refusal are 200 without success.',
          'access',
          '%s answers everybody as the table of access says, about their own and about what is not',
        ),
        asserts: 'usual === 401 ? 401 : 200',
      },
      rule(
        'A limit is 429 without a body.',
        'auth',
        'counts sensitive calls of one address and then answers 429 without a body',
      ),
      {
        ...rule(
          'A session lasts thirty days.',
          'auth',
          'answers with the login user and a session of thirty days that scripts cannot read',
        ),
        asserts: 'Max-Age=2592000',
      },
      rule(
        'Both forms of a path, with and without the closing slash, are served.',
        'access',
        'every documented path is served with and without its closing slash',
      ),
    ],
    'Forms of replies': [
      {
        ...rule(
          'DeletedAt is null for the living, and the page that was read is echoed.',
          'users',
          'is newest first, one-based, with deleted users, and echoes the page',
        ),
        asserts: 'DeletedAt',
      },
      rule(
        'Channels are bare arrays of pages that begin at 0.',
        'channels',
        'are bare arrays of pages that begin at 0',
      ),
      rule('So are tokens.', 'tokens', 'lists newest first from page 0, at most a hundred'),
      rule(
        'So are drawings.',
        'lists',
        'an owner sees the own ones, newest first, ten a page from page 0, without their channel',
      ),
      rule('A change of the status alone answers with the token.', 'tokens', 'changes the status alone when asked to'),
      rule(
        'A quick edit answers with the whole channel.',
        'channels',
        'takes the quick edits of a table and answers with the whole row',
      ),
      rule('An act on a user answers with status and role.', 'users', 'promotes and demotes for root alone'),
      {
        ...rule('The time of a test is at top level.', 'channels', 'stand beside success, also when they fail'),
        asserts: 'time',
      },
      { ...rule('So is a balance.', 'channels', 'gives the balance at top level'), asserts: 'balance: 2.5' },
      {
        ...rule(
          'So are the groups of the price list, whose items name their groups in an array.',
          'models',
          'have a price list at top level, for anonymous visitors too',
        ),
        asserts: 'enable_groups',
      },
      rule('An amount is a text of two decimals.', 'epay', 'costs what is said before, as a text of two decimals'),
      rule(
        'A payment is a flat form of texts.',
        'epay',
        'is signed as the gateway expects, over the documented fields',
      ),
      {
        ...rule(
          'An account elsewhere that was bound is answered "bind".',
          'oauth',
          'binds for whoever is signed in and says the word that clients compare',
        ),
        asserts: `message: 'bind'`,
      },
    ],
    'Contents of replies': [
      rule(
        'A log row has the documented fields, its details as JSON.',
        'logs',
        'has exactly the documented fields, fewer of them for a user',
      ),
      rule(
        'Details are an empty text where there are none.',
        'logs',
        'has an empty text where there is nothing to tell',
      ),
      rule('The status has every key, and no null.', 'site', 'has every documented key and never a null'),
      {
        ...rule(
          'Progress is a text with a percent sign, times of drawings are milliseconds.',
          'lists',
          'an owner sees the own ones, newest first, ten a page from page 0, without their channel',
        ),
        asserts: '%',
      },
      rule('Times of music are seconds.', 'lists', 'an owner sees the own ones, in seconds, without their channel'),
      rule(
        'A token has its key without prefix, its lists joined by commas.',
        'tokens',
        'makes a token of every documented key, in the documented form',
      ),
      rule(
        'A channel has its documented fields, lists joined by commas.',
        'channels',
        'has exactly the documented fields',
      ),
      rule('Options are texts.', 'options', 'list every documented key as text, without those named like a credential'),
      rule('The reset of the ratios says so.', 'options', 'say something on success where clients show it'),
    ],
  },
}
