import type { Language } from '#core/errors.ts'
import type { PlanNoticeKind } from '#db/entities/plan-notice.ts'

/** What a sentence names. */
type PlanFacts = {
  plan: string
  /** When it begins, or ends. */
  from: string
  until: string
  /** A window: `5 小时`. */
  window: string
  /** When the window turns. */
  turns: string
  /** Money that went back to the balance; empty for none. */
  amount: string
  balancePays: boolean
}

type Words = { title: string; line: (facts: PlanFacts) => string }

const zhAfter = ({ balancePays }: PlanFacts): string =>
  balancePays ? '在此之前的调用将从余额扣费。' : '在此之前，该套餐覆盖的模型的调用会被拒绝。'

const enAfter = ({ balancePays }: PlanFacts): string =>
  balancePays
    ? 'Until then calls are charged to your balance.'
    : 'Until then calls of the models it covers are refused.'

export const planWords: Record<Language, Record<PlanNoticeKind, Words>> = {
  zh: {
    bought: { title: '套餐已开通', line: ({ plan, until }) => `套餐「${plan}」已开通，有效期至 ${until}。` },
    renewed: {
      title: '套餐已续期',
      line: ({ plan, from, until }) => `套餐「${plan}」已续期，新的一期从 ${from} 开始，有效期至 ${until}。`,
    },
    ending: {
      title: '套餐即将到期',
      line: ({ plan, until }) => `套餐「${plan}」将于 ${until} 到期，如需继续使用请及时续订。`,
    },
    ended: { title: '套餐已到期', line: ({ plan, until }) => `套餐「${plan}」已于 ${until} 到期。` },
    exhausted: {
      title: '套餐额度已用尽',
      line: (facts) =>
        `套餐「${facts.plan}」的${facts.window}额度已用尽，${facts.turns === '' ? '' : `${facts.turns} 起恢复。`}${zhAfter(facts)}`,
    },
    refunded: {
      title: '套餐已退款',
      line: ({ plan, amount }) => `套餐「${plan}」已终止并退款${amount === '' ? '' : `，${amount} 已退回余额`}。`,
    },
    terminated: { title: '套餐已终止', line: ({ plan }) => `套餐「${plan}」已由管理员终止。` },
    restored: {
      title: '套餐已恢复',
      line: ({ plan, until }) => `套餐「${plan}」已恢复，有效期至 ${until}。`,
    },
  },
  en: {
    bought: { title: 'Your plan is active', line: ({ plan, until }) => `The plan “${plan}” is active until ${until}.` },
    renewed: {
      title: 'Your plan is renewed',
      line: ({ plan, from, until }) =>
        `The plan “${plan}” is renewed: its next term begins at ${from} and ends at ${until}.`,
    },
    ending: {
      title: 'Your plan ends soon',
      line: ({ plan, until }) => `The plan “${plan}” ends at ${until}. Renew it to go on.`,
    },
    ended: { title: 'Your plan has ended', line: ({ plan, until }) => `The plan “${plan}” ended at ${until}.` },
    exhausted: {
      title: 'Your plan is used up for now',
      line: (facts) =>
        `What the plan “${facts.plan}” pays ${facts.window} is used up${facts.turns === '' ? '' : ` until ${facts.turns}`}. ${enAfter(facts)}`,
    },
    refunded: {
      title: 'Your plan was refunded',
      line: ({ plan, amount }) =>
        `The plan “${plan}” was ended and refunded${amount === '' ? '' : `; ${amount} went back to your balance`}.`,
    },
    terminated: {
      title: 'Your plan was ended',
      line: ({ plan }) => `The plan “${plan}” was ended by an administrator.`,
    },
    restored: { title: 'Your plan is back', line: ({ plan, until }) => `The plan “${plan}” is back until ${until}.` },
  },
}

export const planLink: Record<Language, string> = { zh: '查看套餐：', en: 'See your plans:' }

type Window = { period: 'rolling' | 'day' | 'week' | 'month'; seconds: number }

const calendarWords = {
  zh: { day: '每日', week: '每周', month: '每月' },
  en: { day: 'a day', week: 'a week', month: 'a month' },
} as const

const units = [
  { seconds: 86_400, zh: '天', en: 'day' },
  { seconds: 3600, zh: '小时', en: 'hour' },
  { seconds: 60, zh: '分钟', en: 'minute' },
  { seconds: 1, zh: '秒', en: 'second' },
] as const

export function windowWords(language: Language, { period, seconds }: Window): string {
  if (period !== 'rolling') return calendarWords[language][period]
  const unit = units.find((one) => seconds % one.seconds === 0) ?? units[3]
  const count = seconds / unit.seconds
  if (language === 'zh') return ` ${count} ${unit.zh}`
  return `in ${count} ${unit.en}${count === 1 ? '' : 's'}`
}
