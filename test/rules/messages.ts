import type { RuleList } from './rule.ts'

export const rules: RuleList = {
  title: 'Messages',
  sections: {
    Inbox: {
      'test/browser/people.test.ts': {
        'a message is written, arrives with a badge, harms nobody, and its sender sees that it was read': {
          rule: 'An inbox that cannot be read says so.',
          message: '加载消息失败',
        },
      },
    },
    Accounts: {
      'test/browser/account.test.ts': {
        'from registration by an invitation to its end, with a check-in, a second factor and a passkey in between': [
          { rule: 'Two different passwords are refused where one is changed.', message: '两次输入的密码不一致！' },
          { rule: 'An address is bound with the code that was mailed to it.', message: '请输入邮箱验证码！' },
          { rule: 'A code that was mailed is said to be.', message: '验证码发送成功' },
          { rule: 'A check-in that failed says so.', message: '签到失败，请稍后再试' },
          { rule: 'Settings that were saved are said to be.', message: '设置已更新' },
          { rule: 'Settings that were not saved are said to be.', message: '更新设置失败' },
          { rule: 'A changed name is said to be.', message: '用户信息更新成功！' },
          { rule: 'What cannot be copied is shown.', message: '无法复制到剪贴板，请手动复制' },
        ],
        'a forgotten password is replaced by the mailed link, and a password that everybody knows is warned of': [
          { rule: 'A mailed reset link is said to be.', message: '重置邮件发送成功，请检查邮箱！' },
          { rule: 'A password that everybody knows is warned of after login.', message: '您正在使用默认密码！' },
          { rule: 'It is to be changed at once.', message: '请立刻修改默认密码！' },
        ],
      },
      'test/trpc/accounts.test.ts': {
        'is removed only under its own name': {
          rule: 'Another name than one’s own deletes nothing.',
          message: '请输入你的账户名以确认删除！',
          asserts: 'user.confirmation_mismatch',
        },
      },
      'test/browser/people.test.ts': {
        'an administrator finds a user, changes the balance with a reason, promotes, disables, and the audit log shows it':
          { rule: 'A user who was made is said to be.', message: '用户账户创建成功！' },
      },
      'client/lib/errors.test.ts': {
        'what goes wrong with a call is said as an error, what is refused in its own words': {
          rule: 'What goes wrong with a call is said as an error.',
          message: '错误：{message}',
          asserts: '错误：teapot',
        },
      },
    },
    Prices: {
      'client/features/options/prices/form-rules.test.ts': {
        'the price %j is answered with %j': [
          { rule: 'A price is a number.', message: '请输入数字' },
          { rule: 'A price of tokens is not 0.', message: '模型价格不能为0' },
          { rule: 'A model has one price.', message: '模型名称已存在' },
        ],
        'one price for several models, %j, is answered with %j': [
          { rule: 'Ratio and completion ratio are set together or not at all.', message: '请输入模型倍率和补全倍率' },
          { rule: 'A price for several models has a value.', message: '请输入填充值' },
          { rule: 'It is a number from 0.', message: '请输入有效的数字' },
        ],
        'one price for several models is for one at least': {
          rule: 'A price for several models is for one at least.',
          message: '请先选择需要批量设置的模型',
        },
      },
      'test/browser/settings.test.ts': {
        'says what could not be read, set back, filled in, removed or cleared, and what was added': [
          { rule: 'A price that was added is said to be.', message: '添加成功' },
          { rule: 'A catalogue that cannot be asked is said to be.', message: '获取预设倍率失败，请重试' },
          { rule: 'Ratios that were not set back are said to be.', message: '重置预设倍率失败，请重试' },
          { rule: 'Prices that were not filled in are said to be.', message: '填入官网倍率失败，请稍后重试' },
        ],
      },
    },
    Settings: {
      'test/browser/settings.test.ts': {
        'says what could not be read, set back, filled in, removed or cleared, and what was added': [
          { rule: 'Settings that cannot be read are said to be.', message: '系统设置加载失败' },
          { rule: 'A mapping that cannot be read is said to be.', message: '获取模型映射配置失败' },
          {
            rule: 'A mapping that was not removed is said to be.',
            message: '删除失败：{reason}',
            asserts: '删除失败：',
          },
          {
            rule: 'A log that was not cleared is said to be.',
            message: '日志清理失败：{reason}',
            asserts: '日志清理失败：',
          },
        ],
      },
      'src/core/options/codec.test.ts': {
        '%s = %s with %s': {
          rule: 'An address of the site’s settings begins with http:// or https://.',
          message: '{label}必须以 http:// 或 https:// 开头',
          asserts: 'option.not_address',
        },
      },
    },
    'Redemption codes': {
      'test/rest/redemptions.test.ts': {
        'refuses %j and makes nothing': [
          { rule: 'A name has 1 to 20 characters.', message: '兑换码名称长度必须在 1 到 20 个字符之间' },
          { rule: 'A batch has 1 to 100 codes.', message: '兑换码个数必须在 1 到 100 之间' },
          { rule: 'A code begins before it ends.', message: '生效时间必须早于过期时间' },
          {
            rule: 'A code is used as often as a number says, or without a limit.',
            message: '可用次数必须是 -1（不限）或正整数',
          },
        ],
      },
    },
  },
}
