import type { RuleList } from './rule.ts'

const rest = {
  auth: 'test/rest/auth.test.ts',
} as const

export const rules: RuleList = {
  title: 'Accounts',
  sections: {
    'Signing in': [
      {
        rule: 'A login without a name or without a password is refused.',
        message: '请输入用户名和密码！',
        file: rest.auth,
        test: 'asks for what is missing in %j',
      },
    ],
  },
}
