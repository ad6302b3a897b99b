import type { Language } from '#core/errors.ts'

type Words = { subject: string; lines: string[] }

/** Mails about signing in, in the language of whoever reads them. */
export const mailWords: Record<
  Language,
  {
    code: (site: string, code: string) => Words
    addressKnown: (site: string) => Words
    reset: (site: string) => Words & { closing: string[] }
  }
> = {
  zh: {
    code: (site, code) => ({
      subject: `${site} 邮箱验证邮件`,
      lines: [
        `您好，您正在进行 ${site} 邮箱验证。`,
        `您的验证码为：${code}`,
        '验证码 10 分钟内有效，如果不是本人操作，请忽略。',
      ],
    }),
    addressKnown: (site) => ({
      subject: `${site} 邮箱验证邮件`,
      lines: ['您好，', `有人请求验证此邮箱，但它已经属于 ${site} 的一个账户。`, '如果不是本人操作，请忽略。'],
    }),
    reset: (site) => ({
      subject: `${site} 密码重置`,
      lines: [`您好，您正在进行 ${site} 密码重置。`, '点击以下链接进行密码重置：'],
      closing: ['重置链接 10 分钟内有效，如果不是本人操作，请忽略。'],
    }),
  },
  en: {
    code: (site, code) => ({
      subject: `${site}: verify your email address`,
      lines: [
        `Hello, you asked ${site} to verify this email address.`,
        `Your verification code is: ${code}`,
        'The code is valid for 10 minutes. If you did not ask for it, please ignore this mail.',
      ],
    }),
    addressKnown: (site) => ({
      subject: `${site}: verify your email address`,
      lines: [
        'Hello,',
        `somebody asked to verify this address, but it already belongs to an account of ${site}.`,
        'If it was not you, please ignore this mail.',
      ],
    }),
    reset: (site) => ({
      subject: `${site}: reset your password`,
      lines: [`Hello, you asked to reset your password at ${site}.`, 'Press this link to reset it:'],
      closing: ['The link is valid for 10 minutes. If you did not ask for it, please ignore this mail.'],
    }),
  },
}
