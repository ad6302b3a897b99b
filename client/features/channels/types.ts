import type { ChannelType } from '#core/channel-types/index.ts'
import { channelTypeOf, channelTypes } from '#core/channel-types/index.ts'
import { currentLanguage } from '../../i18n/language.ts'
import type { PlainText } from '../../i18n/t.ts'
import { t, text } from '../../i18n/t.ts'
import type { Choice } from '../../components/picker.tsx'

/** What kind of provider a number stands for, in the reader's language. */
export function typeLabel(type: number): string {
  const entry = channelTypeOf(type)
  if (!entry || entry.status === 'reserved') return t('未知类型 {type}', { type })
  return currentLanguage() === 'en' ? entry.labelEn : entry.label
}

const badges: Partial<Record<ChannelType['status'], PlainText>> = {
  legacy: text('旧版'),
  dead: text('已停止服务'),
  later: text('尚未支持'),
  excluded: text('不提供'),
}

/** A word for types that are not for new channels. */
const typeBadge = (entry: ChannelType): string | undefined => {
  const badge = badges[entry.status]
  return badge && t(badge)
}

const perplexity = 27

const successors: Record<number, number> = { 11: 24, 15: 46, 16: 26 }

/** Why a type is a poor choice, in a sentence; undefined where it is not. */
export function typeWarning(entry: ChannelType): string | undefined {
  const successor = successors[entry.type]
  if (successor !== undefined) {
    return entry.status === 'legacy'
      ? t('这是旧版接口，仍可使用；新渠道请选择「{label}」。', { label: typeLabel(successor) })
      : t('该接口已停止服务，调用会失败；请选择「{label}」。', { label: typeLabel(successor) })
  }
  if (entry.type === perplexity) {
    return t('Perplexity 已宣布其 Sonar 对话接口于 2026 年 9 月 27 日停止，由 Agent API 取代；此类型的对话可能失败。')
  }
  if (entry.status === 'legacy') return t('这是旧版接口，仍可使用，但提供商已不再更新。')
  if (entry.status === 'dead') return t('该服务已停止；保留此类型只是为了让已有渠道能够载入。')
  if (entry.status === 'later') return t('视频任务尚未支持：渠道可以保存，但还不能调用。')
  if (entry.status === 'excluded') return t('此类型依赖个人账号登录，不提供。')
  return undefined
}

const rank: Partial<Record<ChannelType['status'], number>> = { legacy: 1, later: 2, dead: 3 }
const rankOf = (entry: ChannelType) => rank[entry.status] ?? 0

/** Types to choose from, those in service first; the one a stored channel has stays among them. */
export const typeChoices = (current?: number): Choice[] =>
  channelTypes
    .filter((entry) => entry.type === current || !(entry.hiddenInUi || entry.type === 0 || entry.status === 'excluded'))
    .toSorted((left, right) => rankOf(left) - rankOf(right))
    .map((entry) => ({ value: String(entry.type), label: typeLabel(entry.type), note: typeBadge(entry) }))

/** For filters, where channels of bygone types are looked for too. */
export const everyType = (): Choice[] =>
  channelTypes
    .filter((entry) => entry.status !== 'reserved')
    .map((entry) => ({ value: String(entry.type), label: typeLabel(entry.type) }))

export const keyHint = (entry: ChannelType): string => (currentLanguage() === 'en' ? entry.keyHint : entry.keyHintZh)
