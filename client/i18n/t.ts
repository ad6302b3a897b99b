import { useEffect } from 'react'
import { createStore, useStore } from '../lib/store.ts'
import { currentLanguage, onLanguageChange, prepareWith, storeLanguage, useLanguage } from './language.ts'
import type { Language } from './language.ts'
import type { english } from './en.ts'

/** A sentence of the console: its Chinese text, for which an `en.json` holds the English. */
export type Text = keyof typeof english

type Names<Sentence> = Sentence extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never

/** A sentence without parameters, as tables of data hold them. */
export type PlainText = { [Sentence in Text]: [Names<Sentence>] extends [never] ? Sentence : never }[Text]

type Arguments<Sentence> = [Names<Sentence>] extends [never]
  ? []
  : [parameters: Record<Names<Sentence>, string | number>]

type Words = { sentences: Record<string, string>; errors: Record<string, string> }

const nothing: Words = { sentences: {}, errors: {} }
let translated = nothing
/** Whether the sentences are there that only who is signed in is shown. */
const isComplete = createStore(false)

/** English is fetched only by those who read it, and of it what they are shown. */
async function load(language: Language, isSignedIn: boolean): Promise<void> {
  if (language !== 'en' || isComplete.get()) return
  if (isSignedIn) {
    const { english, englishErrors } = await import('./en.ts')
    translated = { sentences: english, errors: englishErrors }
    isComplete.set(true)
  } else if (translated === nothing) {
    const { visitorEnglish, visitorErrors } = await import('./en-visitors.ts')
    if (translated === nothing) translated = { sentences: visitorEnglish, errors: visitorErrors }
  }
}

/** Fetches the other sentences when somebody signs in; false until they are there. */
export function useSentences(isSignedIn: boolean): boolean {
  const known = useStore(isComplete)
  const isMissing = useLanguage() === 'en' && isSignedIn && !known
  useEffect(() => {
    // Where they do not come the Chinese ones say what there is to say.
    if (isMissing) load('en', true).catch(() => isComplete.set(true))
  }, [isMissing])
  return !isMissing
}

/** `{count}` stands for the parameter, `{count|model|models}` for the word that goes with it: of one, and of any other number. */
export const fill = (sentence: string, parameters: Readonly<Record<string, string | number>> = {}): string =>
  sentence.replace(/\{(\w+)(?:\|([^|{}]*)\|([^{}]*))?\}/g, (placeholder: string, ...found: (string | undefined)[]) => {
    const [name = '', one, others] = found
    const value = parameters[name]
    if (value === undefined) return placeholder
    return one === undefined || others === undefined ? String(value) : String(value) === '1' ? one : others
  })

/** The sentence in the reader's language. Call it while drawing, never once for a whole module. */
export function t<Sentence extends Text>(sentence: Sentence, ...[parameters]: Arguments<Sentence>): string {
  const words = currentLanguage() === 'en' ? (translated.sentences[sentence] ?? sentence) : sentence
  return fill(words, parameters)
}

/** For words that come from elsewhere, as a schema's messages do: translated where an English is known. */
export const inLanguage = (words: string): string =>
  currentLanguage() === 'en' ? (translated.sentences[words] ?? words) : words

/** Marks a sentence in a table of data, to be given to `t` when it is drawn. */
export const text = <Sentence extends Text>(sentence: Sentence): Sentence => sentence

/** The English of a refusal by its code; undefined in Chinese, which the server already sent. */
export const translatedError = (code: string): string | undefined =>
  currentLanguage() === 'en' ? translated.errors[code] : undefined

const markDocument = () => {
  document.documentElement.lang = currentLanguage() === 'en' ? 'en' : 'zh-CN'
}

export async function startLanguage(isSignedIn: boolean): Promise<void> {
  await load(currentLanguage(), isSignedIn).catch(() => undefined)
  markDocument()
  onLanguageChange(markDocument)
  // Another tab may choose it, without the words: pages that waited for them would lose what was typed.
  prepareWith((language) => load(language, true))
}

/** @throws {TypeError} where the words do not come: then the language stays. */
export async function setLanguage(language: Language): Promise<void> {
  await load(language, true)
  storeLanguage(language)
}
