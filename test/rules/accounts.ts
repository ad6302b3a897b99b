import type { RuleList } from './rule.ts'

export const rules: RuleList = {
  title: 'Accounts, users and messages',
  sections: {
    'Personal settings': {
      'test/browser/account.test.ts': {
        'from registration by an invitation to its end, with a check-in, a second factor and a passkey in between': [
          { rule: 'A changed password is asked for twice and with the current one.', message: '密码修改成功！' },
          { rule: 'A deleted account is said to be.', message: '账户已删除！' },
          {
            rule: 'A check-in says what it gave.',
            message: '签到成功，获得 {amount}',
            asserts: '签到成功，获得 $0.002',
          },
          { rule: 'The list of models collapses after ten.', message: '展开其余 {count} 个', asserts: '展开其余 2 个' },
        ],
      },
      'test/trpc/accounts.test.ts': {
        'asks for the current password before it takes a new one': {
          rule: 'The current password has to be right.',
          asserts: 'user.password_wrong',
        },
        'is removed only under its own name': {
          rule: 'An account is deleted only under its own name.',
          asserts: 'user.confirmation_mismatch',
        },
      },
      'test/rest/account.test.ts': {
        'refuses %j': [
          { rule: 'A display name has at most 20 characters.', message: '显示名称不能超过 20 个字符' },
          { rule: 'A webhook is https.', message: 'Webhook 地址必须是以 https:// 开头的有效地址' },
          { rule: 'A threshold is above zero.', message: '预警阈值必须大于 0' },
          { rule: 'The way of notices is known.', message: '无效的通知方式' },
          { rule: 'An address for notices is one.', message: '无效的通知邮箱地址' },
        ],
      },
      'test/rest/rewards.test.ts': {
        'refuses %d': [
          {
            rule: 'Rewards are moved from one unit on.',
            message: '划转金额最低为 {amount}',
            asserts: '划转金额最低为 $1.000000',
          },
          { rule: 'No more is moved than there is.', message: '邀请额度不足' },
        ],
        'gives the reward once a day, however often it is asked for at once': {
          rule: 'A check-in is once a day, also for fifty at once.',
          message: '今天已经签到过了',
        },
        'gives something between both bounds': {
          rule: 'A check-in gives something between both bounds.',
          asserts: "CheckInMaxQuota: '12'",
        },
      },
      'test/rest/auth.test.ts': {
        'rewards an inviter once for an account that fifty ask for at once, and loses none of fifty invited at once': {
          rule: 'An inviter is rewarded once for each who was invited, also for fifty at once.',
          asserts: 'aff_quota: 50 * 300',
        },
      },
      'test/jobs/notifications.test.ts': {
        'is not sent again within two hours, and is after them': {
          rule: 'A balance is warned of once in two hours.',
          asserts: 'two hours',
        },
        'is measured by what the user chose, else by what root saved, else at 500000': {
          rule: 'Whoever chose no threshold is warned at 500000.',
          asserts: '500000',
        },
      },
    },
    'User administration': {
      'test/rest/users.test.ts': {
        'gets its index of letters while users are written, and again where one was left half built': {
          rule: 'The index of names is built without keeping anybody from writing.',
          asserts: 'index concurrently',
        },
        'finds %s of a name, an address or a display name by an index': {
          rule: 'A search reads an index, also for one or two letters, which are looked for where names begin.',
          asserts: 'users_search_index',
        },
        'refuses %j': [
          { rule: 'A new user has a name and a password.', message: '用户名和密码不能为空！' },
          { rule: 'Nobody makes users of their own role or a higher one.', message: '无法创建权限大于等于自己的用户' },
        ],
        'keeps the ranks, whatever the act': {
          rule: 'Nobody acts on the same or a higher role.',
          message: '无权操作同权限等级或更高权限等级的用户',
        },
        'promotes and demotes for root alone': {
          rule: 'Administrators promote nobody.',
          message: '普通管理员无法提升其他用户为管理员',
        },
        'protects root from root': { rule: 'Root is protected from root.', message: '不能对超级管理员进行此操作' },
        'of an administrator who is demoted in the same moment changes nothing after that': {
          rule: 'Whoever is demoted acts on nobody after that.',
          asserts: 'demote',
        },
      },
      'test/browser/people.test.ts': {
        'an administrator finds a user, changes the balance with a reason, promotes, disables, and the audit log shows it':
          [
            { rule: 'A change of balance says why.', message: '请填写调整额度的原因' },
            { rule: 'An act is said to be done.', message: '操作成功完成！' },
          ],
      },
      'test/rest/account.test.ts': {
        'frees the name, keeps the address taken, and leaves what was booked and logged under the old number': {
          rule: 'A deleted user keeps the row, and the name is free again.',
          asserts: 'username',
        },
      },
    },
    Messages: {
      'test/rest/messages.test.ts': {
        'is refused with %j, and nothing of it stays': [
          { rule: 'A title is needed.', message: '请输入消息标题' },
          { rule: 'Content is needed.', message: '请输入消息内容' },
          { rule: 'A format is known.', message: '消息格式无效' },
          { rule: 'Somebody is addressed.', message: '请至少选择一位收件人' },
        ],
        "is nobody else's to read or to mark, and administration is for administrators": {
          rule: 'A message of others is not found.',
          message: '消息不存在',
        },
        'get one message by a handful of statements': {
          rule: 'Ten thousand people get a message by a handful of statements.',
          asserts: '10_000',
        },
      },
      'src/features/messages/view-preview.test.ts': {
        'is cut at 100 characters, of which the last three are the ellipsis': {
          rule: 'A preview has 100 characters.',
          asserts: '100',
        },
      },
      'client/features/messages/inbox-time.test.ts': {
        'is the time within a day, with the weekday within a week, and the date before that': {
          rule: 'A time is shown by its distance.',
          asserts: 'expect',
        },
      },
      'test/browser/people.test.ts': {
        'a message is written, arrives with a badge, harms nobody, and its sender sees that it was read': {
          rule: 'What others wrote is never executed.',
          asserts: 'hacked',
        },
      },
    },
  },
}
