import { readFileSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { jobSentences } from '#core/jobs.ts'
import { settingsSections } from '#core/options/describe.ts'
import { settingsTabs, type SettingsTab } from '#core/options/groups.ts'

/**
 * Sentences and their English must match: none untranslated, none unused, and the same English for the same sentence
 * wherever two features say it. The compiler sees to the first too; this says all of them at once.
 */
const client = fileURLToPath(new URL('../client', import.meta.url))

export type Found = { sentence: string; file: string }

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(path) : [path]
  })

const unescape = (literal: string): string => literal.replace(/\\(['"`\\])/g, '$1').replaceAll('\\n', '\n')

/** `t('…')` calls and the sentences that `text('…')` marks in tables. */
export function sentencesIn(source: string): string[] {
  const calls = source.matchAll(/(?<![\w.])(?:t|text)\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")/g)
  return [...calls].map(([, single, double]) => unescape(single ?? double ?? ''))
}

export function problemsOf(used: Found[], translations: Map<string, Record<string, string>>): string[] {
  const known = new Map<string, { english: string; file: string }>()
  const problems: string[] = []
  for (const [file, entries] of translations) {
    for (const [sentence, english] of Object.entries(entries)) {
      const earlier = known.get(sentence)
      if (earlier && earlier.english !== english) {
        problems.push(`${file}: “${sentence}” is “${english}” here and “${earlier.english}” in ${earlier.file}`)
      }
      if (!english.trim()) problems.push(`${file}: “${sentence}” has no English`)
      if (placeholders(sentence) !== placeholders(english)) problems.push(`${file}: “${sentence}” lost a parameter`)
      known.set(sentence, { english, file })
    }
  }
  const missing = new Map(used.filter(({ sentence }) => !known.has(sentence)).map((found) => [found.sentence, found]))
  for (const { sentence, file } of missing.values()) problems.push(`${file}: “${sentence}” has no English`)
  const sentences = new Set(used.map(({ sentence }) => sentence))
  for (const [sentence, { file }] of known)
    if (!sentences.has(sentence)) problems.push(`${file}: “${sentence}” is unused`)
  return problems
}

const visitorEnglish = 'client/i18n/en-visitors.ts'

/** The folders whose English everybody is sent: those of the pages that are open to everybody, and what is shared. */
export const visitorFolders = (source: string): string[] =>
  [...source.matchAll(/^import \w+ from '(.+)\/en\.json'$/gm)].map(([, folder = '']) =>
    join(visitorEnglish, '..', folder, '/'),
  )

/** What visitors are shown may not wait for the sentences that come with the sign-in. */
export function lateForVisitors(
  used: Found[],
  translations: Map<string, Record<string, string>>,
  folders: readonly string[],
): string[] {
  const isVisitors = (file: string) => folders.some((folder) => file.startsWith(folder))
  const early = new Set([...translations].flatMap(([file, entries]) => (isVisitors(file) ? Object.keys(entries) : [])))
  return used
    .filter(({ sentence, file }) => isVisitors(file) && !early.has(sentence))
    .map(({ sentence, file }) => `${file}: “${sentence}” has its English only in a file that comes after the sign-in`)
}

const placeholders = (sentence: string): string => [...new Set(sentence.match(/\{\w+\}/g) ?? [])].toSorted().join()

/** What the settings page says of options, which it is drawn from. */
function optionSentences(): Found[] {
  const tabs = Object.entries(settingsTabs) as [SettingsTab, string][]
  const words = tabs.flatMap(([tab, name]) => [
    name,
    ...settingsSections(tab).flatMap(({ label, fields }) => [
      label,
      ...fields.flatMap((field) => [field.label, field.help, field.unit]),
    ]),
  ])
  const sentences = words.filter((sentence) => sentence !== null && /\p{Script=Han}/u.test(sentence))
  return sentences.map((sentence) => ({ sentence: sentence ?? '', file: 'src/core/options' }))
}

function check(): string[] {
  const files = filesBelow(client)
  const named = (file: string) => relative(join(client, '..'), file)
  const used = files
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
    .flatMap((file) => sentencesIn(readFileSync(file, 'utf8')).map((sentence) => ({ sentence, file: named(file) })))
    .concat(optionSentences())
    .concat(jobSentences.map((sentence) => ({ sentence, file: 'src/core/jobs.ts' })))
  const translations = new Map(
    files
      .filter((file) => file.endsWith('/en.json'))
      .map((file) => [named(file), JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>]),
  )
  const folders = visitorFolders(readFileSync(join(client, '..', visitorEnglish), 'utf8'))
  return [...problemsOf(used, translations), ...lateForVisitors(used, translations, folders)]
}

if (import.meta.main) {
  const problems = check()
  if (problems.length > 0) {
    process.stderr.write(`${problems.join('\n')}\n`)
    process.exitCode = 1
  }
}
