import type { Problem } from '#core/errors.ts'
import type { OptionField } from '#core/options/describe.ts'
import { isOptionKey, optionOf } from '#core/options/registry/index.ts'
import { currentLanguage } from '../../i18n/language.ts'
import { refusalText } from '../../i18n/refusal-text.ts'
import type { PlainText } from '../../i18n/t.ts'
import { inLanguage, t, text } from '../../i18n/t.ts'
import { amountText } from '../../lib/format.ts'
import { kindOf, type SettingsSection } from './values.ts'

const choiceWords: Record<string, PlainText> = {
  hour: text('小时'),
  day: text('天'),
  week: text('周'),
}

export const choiceLabel = (choice: string): string => {
  const words = choiceWords[choice]
  return words === undefined ? choice : t(words)
}

export const labelOf = (key: string): string => (isOptionKey(key) ? inLanguage(optionOf(key).label) : key)

/** A refusal names options by their labels, which have an English too. */
export function problemText({ code, params = {} }: Problem): string {
  const named: Record<string, string | number> = { ...params }
  const { key, requiredKeys } = params
  if (typeof key === 'string') named['label'] = labelOf(key)
  if (typeof requiredKeys === 'string') {
    named['required'] = requiredKeys
      .split(',')
      .map(labelOf)
      .join(currentLanguage() === 'en' ? ', ' : '、')
  }
  return refusalText({ code, params: named })
}

const longestDefault = 40

/** The default in a word; undefined where it is nothing, or too long to stand beside a field. */
export function defaultText(field: OptionField): string | undefined {
  const value = field.default
  switch (kindOf(field)) {
    case 'switch':
      return value === true ? t('开') : t('关')
    case 'quota':
      return amountText(Number(value))
    case 'number':
      return value === optionOf(field.key).blank
        ? undefined
        : [String(value), field.unit && inLanguage(field.unit)].filter(Boolean).join(' ')
    case 'choice':
      return choiceLabel(String(value))
    case 'line':
      return value === '' || String(value).length > longestDefault ? undefined : String(value)
    default:
      return undefined
  }
}

const isIn = (words: string | null, query: string): boolean => words?.toLowerCase().includes(query) ?? false

/** What sections have beside their fields, and a search for it leads to. */
const tools: Partial<Record<SettingsSection['group'], readonly PlainText[]>> = {
  logs: [text('清理历史日志')],
  mail: [text('发送测试邮件')],
  oidc: [text('测试 OIDC 连接')],
}

/** Sections with the fields that a search is about, by what they say in either language and by their keys. */
export function matching(sections: readonly SettingsSection[], query: string): SettingsSection[] {
  const wanted = query.trim().toLowerCase()
  return sections.flatMap((section) => {
    const beside = tools[section.group] ?? []
    const isSectionFound = [section.label, ...beside].some(
      (words) => isIn(words, wanted) || isIn(inLanguage(words), wanted),
    )
    const found = section.fields.filter(
      ({ key, label, help }) =>
        isSectionFound ||
        [key, label, inLanguage(label), help, help && inLanguage(help)].some((words) => isIn(words, wanted)),
    )
    return found.length > 0 ? [{ ...section, fields: found }] : []
  })
}
