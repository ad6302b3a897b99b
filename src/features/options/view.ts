import { type ErrorCode, messageOf, type Problem } from '#core/errors.ts'
import { type OptionKey, optionKeys, optionOf } from '#core/options/registry/index.ts'
import { isHiddenInLists } from '#core/options/rules.ts'
import type { OptionsSnapshot } from '#core/options/snapshot.ts'

/** A secret's value never leaves; whether there is one does. */
export type OptionView = {
  key: OptionKey
  value: unknown
  isSet: boolean
  /** False while the option stands at its default. */
  isStored: boolean
}

export const toOptionViews = (snapshot: OptionsSnapshot): OptionView[] =>
  optionKeys.map((key) => ({
    key,
    value: optionOf(key).visibility === 'secret' ? null : snapshot.values[key],
    isSet: snapshot.texts.get(key) !== '',
    isStored: snapshot.stored.has(key),
  }))

/** The documented list: text by key, without those that end like a credential. */
export const toOptionTexts = (snapshot: OptionsSnapshot): { key: string; value: string }[] =>
  [...snapshot.texts].filter(([key]) => !isHiddenInLists(key)).map(([key, value]) => ({ key, value }))

export type FailedChange = {
  key: string
  code: ErrorCode
  params: Record<string, string | number>
  message: string
}

export const toFailedChange = (key: string, problem: Problem): FailedChange => ({
  key,
  code: problem.code,
  params: { ...problem.params },
  message: messageOf(problem),
})
