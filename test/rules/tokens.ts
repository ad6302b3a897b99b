import type { RuleList } from './rule.ts'

export const rules: RuleList = {
  title: 'Tokens, logs, playground and chat',
  sections: {
    'States of a token': {
      'client/components/token-state.test.ts': {
        'a token is enabled, disabled, expired or exhausted; another status is an unknown one': {
          rule: 'A token is enabled, disabled, expired or exhausted; any other status is shown as unknown.',
          message: ['已启用', '已禁用', '已过期', '已耗尽', '未知状态'],
        },
      },
      'test/rest/tokens.test.ts': {
        'changes the status alone when asked to': 'Its owner enables and disables it, and nothing else changes.',
        'enables nothing that has run out': 'What has expired or run out is not enabled before that is resolved.',
      },
    },
    'Making and changing tokens': {
      'test/rest/tokens.test.ts': {
        'refuses %j and makes nothing': [
          { rule: 'An expiry has to be a time.', message: '过期时间格式错误！' },
          { rule: 'A name has a longest length.', message: '令牌名称不能超过 30 个字符' },
          { rule: 'A quota is a whole number from 0.', message: '令牌额度无效' },
          { rule: 'The group is one that the owner may use.', asserts: '无权使用分组' },
        ],
        'takes a token without a name, as documented clients may send one':
          'Documented clients may leave the name empty.',
        'renames a token that calls have overdrawn, sent back as it was read, and leaves what is owed':
          'A token that calls have overdrawn can be renamed.',
        'changes a token whose group was lost since, as long as the group stays; another such group is refused':
          'A token whose group was lost can be changed while the group stays.',
        'refuses the address list %j instead of letting everybody in, here and in a change':
          'An address list that cannot be read lets nobody in.',
        'sorts the list and a search by every column of the page, both ways, over all pages':
          'The list and a search are sorted on the server.',
        'finds by part of the name and by part of the key': 'A search finds part of a name and part of a key.',
      },
      'test/trpc/accounts.test.ts': {
        'makes several under names that tell them apart and fit': [
          { rule: 'The console asks for a name.', asserts: 'token.name_required' },
          { rule: 'The number of tokens is a whole one from 1 to 100.', asserts: '[0, -1, 1.5, 101]' },
          {
            rule: 'Of several tokens all but the first get a suffix of six random letters or digits.',
            asserts: '[0-9A-Za-z]{6}',
          },
        ],
      },
    },
    'Defaults and presets of tokens': {
      'client/features/tokens/presets.test.ts': {
        'a new token has 500000, never expires, and would be limited to 1000 requests and 10 successes in 60 seconds': [
          { rule: 'A new token holds 500000, which is a dollar.', asserts: '500_000' },
          { rule: 'A new token never expires.', asserts: 'expiresAt: null' },
          { rule: 'The period of its limit is 60 seconds.', asserts: 'rateLimitPeriod: 60' },
          { rule: 'Its limit counts 1000 requests.', asserts: 'rateLimitCount: 1000' },
          { rule: 'Its limit counts 10 successes.', asserts: 'rateLimitSuccess: 10' },
        ],
        'the form offers amounts of 1 to 1000 dollars, 10 to 100 tokens at once, and an hour, a day or thirty days': [
          {
            rule: 'Quotas of 1, 10, 50, 100, 500 and 1000 dollars are offered.',
            asserts: '[1, 10, 50, 100, 500, 1000]',
          },
          { rule: '10, 20, 30 and 100 tokens at once are offered.', asserts: '[10, 20, 30, 100]' },
          { rule: 'An hour, a day and 30 days are offered.', asserts: '2_592_000_000' },
        ],
      },
    },
    'Spend caps and keys': {
      'test/relay/spend-caps.test.ts': {
        'on caps of the token and of the user that pay for twenty: twenty are served, the others refused before any upstream is asked':
          { rule: 'Of 200 parallel calls on a cap that pays for twenty, twenty are served.', asserts: 'toBe(20)' },
        'a refusal names the cap, what is left and when it turns, in the dialect of the caller, with Retry-After; a client that retries by itself is asked not to':
          { rule: 'A refusal names the cap, what is left and when it turns.', asserts: '内的消费上限为' },
      },
      'test/ledger/spend-caps.test.ts': {
        'calendar windows turn at the very instant of their zone, with 200 parallel calls on either side of it': {
          rule: 'A calendar window turns at midnight of its zone.',
          asserts: '200',
        },
      },
      'test/relay/explain.test.ts': {
        'explain names the spend caps that cover the call, what is left of each and when it turns, and whether they admit it':
          { rule: 'An explanation names the caps that cover the call.', asserts: 'spend_caps' },
      },
      'test/relay/rotated-keys.test.ts': {
        'a changed key stops at once on every node, the new one works there, and token, figures and log stay the same':
          { rule: 'A changed key stops at once, and the token keeps its log and its figures.', asserts: '401' },
      },
    },
    'Usage logs': {
      'client/features/logs/state.test.ts': {
        'rows are top-ups, consumption, administration, system, check-ins and errors, and any other is unknown': {
          rule: 'A row is about one of six things.',
          message: ['充值', '消费', '管理', '系统', '签到', '错误'],
        },
        'an answer is good below 101 seconds and bad from 300 on; its first token below 3 and from 10': [
          { rule: 'Below 101 seconds an answer is green, from 300 on red.', asserts: '101_000' },
          { rule: 'Below 3 seconds the first token is green, from 10 on red.', asserts: '10_000' },
        ],
      },
      'test/rest/logs.test.ts': {
        'has exactly the documented fields, fewer of them for a user': {
          rule: 'A user sees the own rows, without the name of the channel and what it failed with.',
          asserts: 'channel_name',
        },
        'is filtered by the documented words, times included to the second':
          'The documented filters count, times to the second.',
        'has sums that count consumption alone': 'Sums count consumption alone, rates the last minute.',
        'is searched by keyword and by key, in bare arrays': 'A key alone finds its rows, for its owner.',
        'is cleared up to an instant, and not without one': {
          rule: 'Clearing needs a time.',
          message: '请选择清理时间',
        },
      },
      'test/browser/logs.test.ts': {
        'recomputes each charge in the browser and matches what was charged': {
          rule: 'The receipt of a row gives its charge in the browser.',
          asserts: 'equal',
        },
      },
      'test/relay/hand-worked-charges.test.ts': {
        'the receipt of every kind of call still gives its charge when all prices have changed': {
          rule: 'The receipt of every kind of call gives its charge after prices have changed.',
          asserts: 'receiptViolations',
        },
      },
    },
    'Drawing and music tasks': {
      'client/features/tasks/words.test.ts': {
        'a task is in one of the states of its upstream; without one it is being submitted, with another it is unknown':
          {
            rule: 'A task is in one of the states of its upstream.',
            message: ['成功', '未启动', '已提交', '执行中', '失败', '等待补充', '排队中', '提交中', '未知'],
          },
        'every documented action and result of a submission has its word': {
          rule: 'A submission is taken, waits or is a repetition.',
          message: ['已提交', '等待中', '重复提交'],
        },
        'drawings begin with the last 30 days, music with today, and more than 60 seconds are shown in red': {
          rule: 'Drawings begin with the last 30 days, music with today; more than 60 seconds are red.',
          asserts: '30d',
        },
      },
      'test/tasks/lists.test.ts': {
        'an owner sees the own ones, newest first, ten a page from page 0, without their channel':
          'Lists of one’s own have ten a page from page 0 and no channel.',
      },
      'test/tasks/drawing.test.ts': {
        'that fails is paid back to user and token, once, and the log says so': 'A failed drawing is paid back once.',
      },
      'test/browser/tasks.test.ts': {
        'an administrator narrows everybody’s drawings by state, and sees whose they are and where they went': {
          rule: 'A refund is shown where the task is.',
          asserts: 'what it cost was given back',
        },
      },
    },
    Playground: {
      'test/relay/playground.test.ts': {
        'what is not allowed is refused with the documented message': [
          { rule: 'A system access token does not work here.', message: '这里不能使用系统访问令牌' },
          { rule: 'A model has to be chosen.', message: '请选择模型' },
          { rule: 'The group is one that the user may use.', message: '无权使用该分组' },
        ],
        'a signed-in user chats at the ratio of the chosen group, and only the user pays':
          'The user alone pays, at the ratio of the chosen group.',
      },
      'client/features/playground/settings.test.ts': {
        'the temperature goes from 0.1 to 1 by 0.1, and the first settings ask a helpful assistant for as much as it gives':
          {
            rule: 'The temperature goes from 0.1 to 1 by 0.1; the longest answer is not limited at first.',
            asserts: 'step: 0.1',
          },
      },
      'client/features/playground/reply.test.ts': {
        'a reply grows piece by piece and remembers when its first word came': {
          rule: 'A reply waits, is incomplete while it comes, and complete at its mark.',
          asserts: 'incomplete',
        },
      },
      'test/browser/playground.test.ts': {
        'a failed call says why, names the request, and can be asked again': {
          rule: 'A reply that fails is in error and says why.',
          asserts: 'data-reply=error',
        },
        'a session that ended leads to the login and back': {
          rule: 'Whoever’s login has expired is shown where to sign in.',
          asserts: 'login has expired',
        },
        'a function is defined, called, given its result and answered with; the conversation stays on reload and leaves as code':
          { rule: 'A conversation is there after a reload.', asserts: 'page.reload' },
        'offers and sends what the model takes: an effort where it thinks, sampling where it has it': {
          rule: 'A model is sent what it takes.',
          asserts: 'reasoning_effort',
        },
      },
    },
    'Chat links': {
      'test/browser/tokens.test.ts': {
        'opens the operator’s chat page with a key of the reader behind the #, and leads a reader without an enabled token to the tokens':
          [
            { rule: 'A link that cannot be used says so.', asserts: '聊天链接配置错误' },
            { rule: 'Without an enabled token the reader is led to the tokens.', asserts: '**/app/tokens' },
            {
              rule: 'The key stands behind the #, and no page learns where the reader came from.',
              asserts: 'no-referrer',
            },
            {
              rule: 'The frame leads nowhere but to pages that the operator names.',
              asserts: 'data-refused=frame-src',
            },
          ],
      },
      'client/features/chat/chat-link.test.ts': {
        'a key is looked for among 100 tokens, and whoever has none is led away after 1.5 seconds': {
          rule: 'It happens after 1.5 seconds; 100 tokens are looked through.',
          asserts: '[100, 1500]',
        },
        'a chat page keeps its own storage, but one of the gateway’s own origin does not act as the reader': {
          rule: 'A page of the gateway’s own origin does not act as the reader.',
          asserts: 'allow-same-origin',
        },
      },
    },
  },
}
