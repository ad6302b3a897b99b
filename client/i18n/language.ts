import { useStore } from '../lib/store.ts'
import { createStored } from '../lib/stored.ts'

export const languages = ['zh', 'en'] as const
export type Language = (typeof languages)[number]

/** A region is ignored: `zh-TW` is Chinese. Who reads neither is given English. */
const languageOf = (tag: string): Language => (/^zh\b/i.test(tag) ? 'zh' : 'en')

/** What a language needs before it is shown, where another tab has chosen it. */
let prepare: (language: Language) => Promise<void> = async () => undefined
export const prepareWith = (next: typeof prepare): void => {
  prepare = next
}

/** The browser's own language until another is chosen; outside a browser the sentences are as they are written. */
const stored = createStored<Language>('i18nextLng', {
  parse: (text) => (text === '' ? ownLanguage() : languageOf(text)),
  format: (language) => language,
  fallback: ownLanguage(),
  // Where its words do not come the language stays.
  follow: (language, adopt) => void prepare(language).then(adopt, () => undefined),
})

function ownLanguage(): Language {
  return typeof document === 'undefined' ? 'zh' : languageOf(navigator.language)
}

export const currentLanguage = stored.get
export const storeLanguage = stored.set
export const onLanguageChange = stored.subscribe

/** The reader's language; a component that calls it is drawn again when it changes. */
export const useLanguage = (): Language => useStore(stored)

/** What `Intl` is given. */
export const locale = (): string => (currentLanguage() === 'en' ? 'en-US' : 'zh-CN')
