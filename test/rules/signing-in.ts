import type { RuleList } from './rule.ts'

export const rules: RuleList = {
  title: 'Signing in',
  sections: {
    'Signing in': {
      'test/rest/auth.test.ts': {
        'asks for what is missing in %j': {
          rule: 'A name and a password are asked for.',
          message: '请输入用户名和密码！',
        },
        'says one thing of unknown, wrong, banned, deleted and password-less accounts': {
          rule: 'Unknown, wrong, banned, deleted and password-less accounts get the same answer.',
          message: '用户名或密码错误，或账号已被封禁',
          asserts: 'refused(failed)',
        },
        'can be switched off': { rule: 'Password login can be switched off.', message: '管理员已关闭密码登录' },
        'stands before the login and is remembered until it': [
          { rule: 'The bot check stands before the login.', message: '请稍后几秒重试，Turnstile 正在检查用户环境！' },
          { rule: 'A bot check that fails is said.', message: '人机验证未通过，请刷新页面后重试' },
        ],
        'lets one account be made, of however many that one browser asks for at once': {
          rule: 'A bot check that a session remembers makes one account.',
          message: '请稍后几秒重试，Turnstile 正在检查用户环境！',
        },
        'says so when it cannot be asked': {
          rule: 'A bot check that cannot be asked is said.',
          message: '人机验证服务暂时不可用，请稍后重试',
        },
        'counts sensitive calls of one address and then answers 429 without a body': {
          rule: 'Sensitive calls of one address end in 429 without a body.',
          asserts: '429',
        },
      },
      'test/rest/guessing.test.ts': {
        'one network has thirty attempts at whatever accounts': {
          rule: 'Thirty attempts of one network, ten of them at one account.',
          asserts: '30',
        },
      },
      'test/browser/sign-in.test.ts': {
        'make an account, sign in to it again, and lead back to where the reader was going': {
          rule: 'A login is said to have succeeded, and leads where the reader was going.',
          message: '登录成功！',
        },
      },
      'client/lib/session.test.ts': {
        'login leads nowhere else, whatever a link says: %j': {
          rule: 'After login only a path of this site is followed.',
          asserts: 'safeReturn',
        },
      },
      'test/rest/site.test.ts': {
        'warns of a password that everybody tries first': {
          rule: 'The password that everybody tries first is warned of.',
          asserts: 'must_change_password',
        },
      },
      'test/rest/second-factor.test.ts': {
        'is asked for after the password, and nothing can be done before it': {
          rule: 'A second step follows the password of whoever has one.',
          asserts: 'halfSignedIn',
        },
      },
    },
    Registration: {
      'test/rest/auth.test.ts': {
        'refuses %j': [
          { rule: 'A name and a password are needed.', message: '用户名和密码不能为空！' },
          { rule: 'A name has at most 12 characters.', message: '用户名不能超过 12 个字符' },
          { rule: 'A password has at least 8 characters.', message: '密码长度不得小于 8 位！' },
          { rule: 'A password has at most 20 characters.', message: '密码长度应为 8 到 20 个字符' },
        ],
        'gives a name once, also when asked fifty times at once': {
          rule: 'A name is given once, also to fifty at once.',
          message: '用户名已存在，或已注销',
        },
        'is closed by %s': [
          { rule: 'Registration can be closed.', message: '管理员已关闭新用户注册' },
          { rule: 'Registration by password can be closed.', message: '管理员已关闭密码注册，请使用第三方账号注册' },
        ],
      },
      'test/browser/account.test.ts': {
        'from registration by an invitation to its end, with a check-in, a second factor and a passkey in between': [
          { rule: 'Both passwords are the same.', message: '两次输入的密码不一致' },
          { rule: 'A registration is said to have succeeded.', message: '注册成功！' },
        ],
      },
    },
    'E-mail': {
      'test/rest/mail.test.ts': {
        'binds a proved address to the session’s user, without the user-id header': {
          rule: 'An address is needed.',
          message: '请输入邮箱！',
        },
        'under %j is refused to %s': [
          { rule: 'An address has the form of one.', message: '邮箱地址格式不正确' },
          { rule: 'Only listed domains, where they are listed.', message: '该邮箱的域名不在白名单中' },
        ],
        'dies after five wrong attempts, from wherever they come': {
          rule: 'A code is wrong or has run out.',
          message: '验证码错误或已过期',
          asserts: 'wrongCode',
        },
        'lives ten minutes by the clock of the database': {
          rule: 'A code lives ten minutes by the clock of the database.',
          asserts: 'minutes',
        },
        'gives one address to one account, whatever the letter case': {
          rule: 'An address has one account, whatever its letter case.',
          message: '该邮箱地址已被占用',
        },
        'does not tell whether the address has an account': {
          rule: 'Known and unknown addresses are answered alike.',
          asserts: 'unknownReply',
        },
        'works once for fifty who confirm at once, and the one password it gave signs in': {
          rule: 'A reset link is used once, also by fifty at once.',
          message: '重置链接无效或已过期',
        },
        'never writes the caller’s own host into the link': {
          rule: 'A reset link leads to the configured address alone.',
          asserts: 'host',
        },
      },
      'test/browser/account.test.ts': {
        'from registration by an invitation to its end, with a check-in, a second factor and a passkey in between': {
          rule: 'The button for a code counts thirty seconds.',
          message: '秒后重发',
        },
      },
    },
    'Accounts elsewhere': {
      'test/rest/oauth.test.ts': {
        'lets nobody in when it %s': {
          rule: 'A state counts once, in the browser it was made for, for ten minutes.',
          message: '登录状态校验失败，请重新登录',
          asserts: 'wrongState',
        },
        'is refused while it is switched off, at the start and at the end': {
          rule: 'A provider that is switched off signs nobody in.',
          asserts: 'oauth.disabled',
        },
        'gives one identity to one of fifty people': {
          rule: 'An identity belongs to one account.',
          message: '账户已被绑定',
        },
        'refuses to bind what belongs to somebody, also to somebody who left': {
          rule: 'The account of somebody who left stays taken.',
          message: '用户已注销',
        },
      },
      'test/rest/provider-answers.test.ts': {
        'signs nobody in to the accounts of the former, though its subjects are called the same': {
          rule: 'An OIDC subject counts at its issuer alone.',
          asserts: 'oidc_issuer',
        },
        'needs the trust level that the site asks for, which the profile alone has': {
          rule: 'Linux DO asks for a trust level of 0 to 4.',
          message: 'Linux DO 信任等级不足，最低要求 {level} 级',
          asserts: '最低要求 3 级',
        },
        'is never concluded from an e-mail address, verified or not': {
          rule: 'An address links no accounts, verified or not.',
          asserts: '账户的邮箱已属于本站的一个账户',
        },
      },
      'test/rest/messengers.test.ts': {
        'makes an account at first, signs in to it the next time, and counts once': {
          rule: 'A WeChat code counts once.',
          message: '验证码错误或已过期',
          asserts: 'wrongCode',
        },
        'counts for five minutes': {
          rule: 'What Telegram signed counts for five minutes.',
          message: 'Telegram 授权已过期，请重试',
          asserts: 'expired',
        },
        'counts once, also for fifty who bring it at once, and for login and binding together': {
          rule: 'What Telegram signed counts once.',
          asserts: '50',
        },
        'is nobody’s where it was signed for another bot, changed, or not signed': {
          rule: 'What Telegram did not sign counts for nothing.',
          message: 'Telegram 登录校验失败',
        },
        'binds by leading the browser back to the personal settings, and signs in after that': {
          rule: 'A Telegram account signs in only once it is bound.',
          message: '该 Telegram 账户未绑定',
        },
        'stays where it is the only way to sign in': {
          rule: 'The last way to sign in cannot be unbound.',
          asserts: 'identity.only_way',
        },
      },
      'test/browser/sign-in.test.ts': {
        'are bound and unbound in the personal settings, with what went wrong said there': {
          rule: 'A binding is said to have succeeded.',
          message: '{provider} 账户绑定成功！',
          asserts: 'GitHub 账户绑定成功！',
        },
      },
    },
    'Second factor': {
      'test/rest/second-factor.test.ts': {
        'wants a proof that is at most ten minutes old, of those who have a second factor': {
          rule: 'A proof is at most ten minutes old.',
          message: '此操作需要先完成两步验证',
        },
        'is refused to system access tokens of those who have one': {
          rule: 'Access tokens prove nothing twice.',
          message: '账户开启了两步验证，系统访问令牌不能执行此操作，请登录控制台操作',
        },
        'takes each one-time password once, also for nine at once': {
          rule: 'A one-time password counts once.',
          message: '验证码错误，或已使用过',
        },
        'ends after five wrong answers and after ten minutes': {
          rule: 'Five wrong answers end the second step, and so do ten minutes.',
          message: '登录已超时，或错误次数过多，请重新登录',
        },
      },
      'test/trpc/passkeys.test.ts': {
        'ends at twenty, and a name has one to fifty characters': {
          rule: 'Twenty passkeys at most.',
          message: '最多可以添加 {most} 个通行密钥',
          asserts: '最多可以添加 20 个通行密钥',
        },
      },
      'test/trpc/account-security.test.ts': {
        'is asked again before %s': {
          rule: 'Secrets, money and dangerous settings want it again.',
          asserts: 'second_factor.required',
        },
        'adds no way in before the password is typed: %s': {
          rule: 'Without one, ways in are added with the password, or within ten minutes of signing in.',
          asserts: 'second_factor.owner_unconfirmed',
        },
      },
    },
  },
}
