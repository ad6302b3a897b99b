import type { RuleList } from './rule.ts'

export const rules: RuleList = {
  title: 'The documented API',
  sections: {
    'Refusals and sessions': {
      'test/contract/access.test.ts': {
        '%s answers everybody as the table of access says, about their own and about what is not': {
          rule: 'Nobody signed in is 401; a role that does not suffice, a ban and every other refusal are 200 without success.',
          asserts: 'usual === 401 ? 401 : 200',
        },
        'every documented path is served with and without its closing slash':
          'Both forms of a path, with and without the closing slash, are served.',
      },
      'test/rest/auth.test.ts': {
        'counts sensitive calls of one address and then answers 429 without a body': 'A limit is 429 without a body.',
        'answers with the login user and a session of thirty days that scripts cannot read': {
          rule: 'A session lasts thirty days.',
          asserts: 'Max-Age=2592000',
        },
      },
    },
    'Forms of replies': {
      'test/rest/users.test.ts': {
        'is newest first, one-based, with deleted users, and echoes the page': {
          rule: 'DeletedAt is null for the living, and the page that was read is echoed.',
          asserts: 'DeletedAt',
        },
        'promotes and demotes for root alone': 'An act on a user answers with status and role.',
      },
      'test/rest/channels.test.ts': {
        'are bare arrays of pages that begin at 0': 'Channels are bare arrays of pages that begin at 0.',
        'takes the quick edits of a table and answers with the whole row':
          'A quick edit answers with the whole channel.',
        'stand beside success, also when they fail': { rule: 'The time of a test is at top level.', asserts: 'time' },
        'gives the balance at top level, with its currency': {
          rule: 'So is a balance, with its currency.',
          asserts: 'balance_currency: currency',
        },
      },
      'test/rest/tokens.test.ts': {
        'lists newest first from page 0, at most a hundred': 'So are tokens.',
        'changes the status alone when asked to': 'A change of the status alone answers with the token.',
      },
      'test/tasks/lists.test.ts': {
        'an owner sees the own ones, newest first, ten a page from page 0, without their channel': 'So are drawings.',
      },
      'test/rest/models.test.ts': {
        'have a price list at top level, for anonymous visitors too': {
          rule: 'So are the groups of the price list, whose items name their groups in an array.',
          asserts: 'enable_groups',
        },
      },
      'test/payments/epay.test.ts': {
        'costs what is said before, as a text of two decimals': 'An amount is a text of two decimals.',
        'is signed as the gateway expects, over the documented fields': 'A payment is a flat form of texts.',
      },
      'test/rest/oauth.test.ts': {
        'binds for whoever is signed in and says the word that clients compare': {
          rule: 'An account elsewhere that was bound is answered "bind".',
          asserts: "message: 'bind'",
        },
      },
    },
    'Contents of replies': {
      'test/rest/logs.test.ts': {
        'has exactly the documented fields, fewer of them for a user':
          'A log row has the documented fields, its details as JSON.',
        'has an empty text where there is nothing to tell': 'Details are an empty text where there are none.',
      },
      'test/rest/site.test.ts': {
        'has every documented key and never a null': 'The status has every key, and no null.',
      },
      'test/tasks/lists.test.ts': {
        'an owner sees the own ones, newest first, ten a page from page 0, without their channel': {
          rule: 'Progress is a text with a percent sign, times of drawings are milliseconds.',
          asserts: '%',
        },
        'an owner sees the own ones, in seconds, without their channel': 'Times of music are seconds.',
      },
      'test/rest/tokens.test.ts': {
        'makes a token of every documented key, in the documented form':
          'A token has its key without prefix, its lists joined by commas.',
      },
      'test/rest/channels.test.ts': {
        'has exactly the documented fields': 'A channel has its documented fields, lists joined by commas.',
      },
      'test/trpc/options.test.ts': {
        'list every documented key as text, without those named like a credential': 'Options are texts.',
        'say something on success where clients show it': 'The reset of the ratios says so.',
      },
    },
  },
}
