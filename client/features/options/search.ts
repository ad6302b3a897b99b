import { settingsTabs } from '#core/options/groups.ts'
import { inLanguage } from '../../i18n/t.ts'
import { sections } from './values.ts'
import { matching } from './words.ts'

export type FoundSetting = { key: string; label: string; tab: string }

/** Settings that a search is about, for the palette; fetched when somebody searches. */
export const findSettings = (words: string): FoundSetting[] =>
  matching(sections, words).flatMap((section) =>
    section.fields.map(({ key, label }) => ({
      key,
      label: inLanguage(label),
      tab: inLanguage(settingsTabs[section.tab]),
    })),
  )
