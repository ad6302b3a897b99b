/** What a completion ratio is by the model's name alone. `locked` beats the CompletionRatio map, otherwise the map wins. */
export type CompletionRule = {
  fits: (model: string) => boolean
  /** The name of a row in the CompletionRatio map instead of a figure. */
  as?: string
  ratio?: number
  locked: boolean
}

type Test = (model: string) => boolean

const starts =
  (...prefixes: string[]): Test =>
  (model) =>
    prefixes.some((prefix) => model.startsWith(prefix))
const ends =
  (...suffixes: string[]): Test =>
  (model) =>
    suffixes.some((suffix) => model.endsWith(suffix))
const contains =
  (...parts: string[]): Test =>
  (model) =>
    parts.some((part) => model.includes(part))
const is =
  (...names: string[]): Test =>
  (model) =>
    names.includes(model)
const either =
  (...tests: Test[]): Test =>
  (model) =>
    tests.some((test) => test(model))
const both =
  (...tests: Test[]): Test =>
  (model) =>
    tests.every((test) => test(model))
const not =
  (test: Test): Test =>
  (model) =>
    !test(model)

const locked = (fits: Test, ratio: number): CompletionRule => ({ fits, ratio, locked: true })
const open = (fits: Test, ratio: number): CompletionRule => ({ fits, ratio, locked: false })
const sameAs = (fits: Test, as: string): CompletionRule => ({ fits, as, locked: false })

/** In order; the first that fits decides. A test keeps them in step with `CompletionRules` of default-pricing.json. */
export const completionRules: readonly CompletionRule[] = [
  sameAs(starts('gpt-4-gizmo'), 'gpt-4-gizmo-*'),
  sameAs(starts('gpt-4o-gizmo'), 'gpt-4o-gizmo-*'),
  locked(is('gpt-4o-2024-05-13'), 3),
  locked(both(starts('gpt-4o'), not(ends('-all'))), 4),
  open(starts('gpt-4.1'), 4),
  locked(starts('gpt-4.5-preview'), 2),
  locked(either(starts('gpt-4-turbo'), ends('gpt-4-1106', 'gpt-4-1105')), 3),
  open(both(starts('gpt-4'), not(ends('-all'))), 2),
  locked(starts('gpt-5'), 8),
  locked(starts('o1', 'o3', 'o4'), 4),
  locked(is('chatgpt-4o-latest'), 3),
  locked(contains('claude-3'), 5),
  locked(contains('claude-sonnet-4', 'claude-opus-4', 'claude-haiku-4'), 5),
  locked(contains('claude-instant-1', 'claude-2'), 3),
  locked(either(is('gpt-3.5-turbo'), both(starts('gpt-3.5'), ends('0125'))), 3),
  locked(both(starts('gpt-3.5'), ends('1106')), 2),
  locked(starts('gpt-3.5'), 1.3333),
  locked(starts('mistral-'), 3),
  locked(starts('gemini-1.0-pro', 'gemini-1.5-pro'), 4),
  open(starts('gemini-2.5-pro'), 8),
  open(both(starts('gemini-2.5-flash-preview'), ends('-nothinking')), 4),
  open(starts('gemini-2.5-flash-lite'), 4),
  open(starts('gemini-2.5-flash-preview'), 23.3333),
  open(starts('gemini-2.5-flash'), 8.3333),
  open(starts('gemini-robotics-er-1.5'), 8.3333),
  open(starts('gemini-3-pro'), 6),
  open(starts('gemini-'), 4),
  locked(is('command-r'), 3),
  locked(is('command-r-plus'), 5),
  locked(is('command-r-08-2024', 'command-r-plus-08-2024'), 4),
  open(starts('command'), 4),
  locked((model) => is('deepseek-chat', 'deepseek-reasoner')(model.toLowerCase()), 4),
  locked(starts('ERNIE-Speed-', 'ERNIE-Lite-', 'ERNIE-Character', 'ERNIE-Functions'), 2),
  locked(is('llama2-70b-4096'), 1.25),
  locked(is('llama3-8b-8192'), 2),
  locked(is('llama3-70b-8192'), 1.339),
]

export const completionRuleOf = (model: string): CompletionRule | undefined =>
  completionRules.find((rule) => rule.fits(model))
