import { createStored, useStored } from '../lib/stored.ts'

export const languages = ['zh', 'en'] as const
export type Language = (typeof languages)[number]

/** A region is ignored: `en-US` is English, everything unknown is Chinese. */
const stored = createStored<Language>('i18nextLng', {
  parse: (text) => (text.toLowerCase().startsWith('en') ? 'en' : 'zh'),
  format: (language) => language,
  fallback: 'zh',
})

export const currentLanguage = stored.get
export const storeLanguage = stored.set
export const onLanguageChange = stored.subscribe

/** The reader's language; a component that calls it is drawn again when it changes. */
export const useLanguage = (): Language => useStored(stored)

/** What `Intl` is given. */
export const locale = (): string => (currentLanguage() === 'en' ? 'en-US' : 'zh-CN')
