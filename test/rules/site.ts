import type { RuleList } from './rule.ts'

export const rules: RuleList = {
  title: 'The site',
  sections: {
    'The site': {
      'test/rest/site.test.ts': {
        'refuses %s with 400 and changes nothing': [
          { rule: 'Setup wants a name.', message: '请输入管理员用户名' },
          { rule: 'Setup wants eight characters.', message: '密码长度至少为 8 个字符' },
          { rule: 'Setup wants both passwords the same.', message: '两次输入的密码不一致' },
        ],
        'twenty at once make one root': { rule: 'Twenty setups at once make one root.', asserts: '20' },
        'refuses every change with 405 but for those of root, and lets people come and go': {
          rule: 'A demonstration changes nothing.',
          message: '本站仅作演示之用，无服务端！',
        },
      },
      'client/lib/errors.test.ts': {
        'what goes wrong with a call is said as an error, what is refused in its own words': [
          { rule: 'Too many calls are said to be.', message: '请求次数过多，请稍后再试！' },
          { rule: 'A fault of ours is said to be.', message: '服务器内部错误，请联系管理员！' },
        ],
      },
      'test/trpc/accounts.test.ts': {
        'ask an anonymous visitor to sign in and an ordinary user to leave': {
          rule: 'Whoever is not signed in is asked to sign in.',
          message: '未登录或登录已过期，请重新登录',
          asserts: 'session.required',
        },
      },
      'test/browser/first-journey.test.ts': {
        'goes from setup to a charged chat without leaving the console': {
          rule: 'The founder’s checklist ticks itself and goes.',
          message: '开始使用',
          asserts: 'testChannel',
        },
      },
      'test/browser/people.test.ts': {
        'an announcement is read once by everybody, until its words change': {
          rule: 'An announcement is read once.',
          message: '公告',
        },
      },
    },
    Settings: {
      'src/core/options/codec.test.ts': {
        '%s = %s with %s': [
          {
            rule: 'Top-up ratios are JSON.',
            message: '充值分组倍率不是合法的 JSON 字符串',
            asserts: 'option.topup_ratio_not_json',
          },
          { rule: 'A trust level is at most 4.', asserts: "['LinuxDOMinimumTrustLevel', '5', 'option.too_large']" },
          { rule: 'Exports are at least a minute apart.', asserts: "['DataExportInterval', '0', 'option.too_small']" },
        ],
      },
      'test/browser/settings.test.ts': {
        'asks before password login is switched off, and leaves it on without consent': {
          rule: 'Nothing changed is said to be.',
          message: '你似乎并没有修改什么',
        },
        'says which change was refused, keeps it as typed and saves the others': {
          rule: 'What was saved in part is said to be.',
          message: '部分保存失败，请重试',
        },
      },
      'test/trpc/logs.test.ts': {
        'in the background reports how far it is, ends when it is asked to, and keeps what was not reached': {
          rule: 'Cleared log rows are counted.',
          message: '{count} 条日志已清理！',
          asserts: '条日志已清理',
        },
      },
    },
    Figures: {
      'client/lib/format.test.ts': {
        'counts are written out below ten thousand and abbreviated from there': {
          rule: 'Large numbers are abbreviated from ten thousand on.',
          asserts: '10',
        },
        'quota is dollars with two decimals, or as many as a breakdown wants': {
          rule: 'Quota is dollars with two decimals.',
          asserts: '2',
        },
      },
    },
    'Attacks and faults': {
      'test/rest/rewards.test.ts': {
        'loses nothing where a check-in, a transfer, a new name and settings meet ten deductions': {
          rule: 'No act writes a whole row: balances keep what happens beside them.',
          asserts: '600_000 - 70',
        },
        'moves the full amount once for fifty who try at once': {
          rule: 'Rewards are transferred once by fifty at once.',
          asserts: '50',
        },
        'is open again after midnight UTC': {
          rule: 'A day for check-ins begins at midnight UTC.',
          asserts: 'can_check_in',
        },
      },
      'test/contract/access.test.ts': {
        'what belongs to somebody else is not found by its number': {
          rule: 'What belongs to somebody else is not found by its number.',
          asserts: 'not_found',
        },
      },
      'test/rest/site.test.ts': {
        'lets nobody in under well-known names before it ran': {
          rule: 'Nobody is let in under well-known names.',
          asserts: 'root',
        },
        'wants the printed token from whoever comes through a proxy or from afar': {
          rule: 'Setup from afar wants the printed token.',
          asserts: 'token',
        },
        'cannot run again, not even with other words': { rule: 'Setup runs once.', asserts: '400' },
      },
      'test/rest/account.test.ts': {
        'ignores everything an account may not give itself': {
          rule: 'Nobody gives themselves a role, a group or a balance.',
          asserts: 'quota',
        },
      },
      'test/rest/revoked-credentials.test.ts': {
        'a ban and a demotion are heeded by the next request on every node, with session and token': {
          rule: 'A ban, a demotion and a deletion count at the next request.',
          asserts: 'demot',
        },
        'a system access token that is asked for while the password changes does not outlive it': {
          rule: 'A changed password ends what was asked for meanwhile.',
          asserts: 'token',
        },
      },
      'test/rest/auth.test.ts': {
        'ends the session, even for whoever kept its cookie, and works signed out': {
          rule: 'A session is over for whoever kept its cookie.',
          asserts: '401',
        },
        'starts a new session, so that a planted one is worth nothing': {
          rule: 'A planted session is worth nothing.',
          asserts: 'planted',
        },
      },
      'test/rest/mail.test.ts': {
        'forgets an older link when a newer one is sent, and one for another address': {
          rule: 'An older reset link ends with a newer one.',
          asserts: 'older',
        },
        'dies after five wrong attempts, from wherever they come': {
          rule: 'Five wrong codes end a code, wherever they come from.',
          asserts: 'wrongCode',
        },
      },
      'test/rest/provider-answers.test.ts': {
        'is identified by the id that never changes, not by a name that somebody else can take over': {
          rule: 'A provider’s number is who somebody is, not the name.',
          asserts: 'renamed',
        },
        'does not send the secret to a host that was put in the old one’s place': {
          rule: 'A secret does not follow to another host.',
          asserts: 'client_secret',
        },
      },
      'test/rest/users.test.ts': {
        'loses nothing when two administrators and ten deductions meet': {
          rule: 'Balances lose nothing to edits made at once.',
          asserts: 'booked',
        },
      },
    },
  },
}
