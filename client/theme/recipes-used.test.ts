import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { recipes, slotRecipes } from '@chakra-ui/react/theme'
import { libraryRecipes, librarySlotRecipes } from './library-recipes.ts'

const client = fileURLToPath(new URL('..', import.meta.url))

/** Names the library imports under one recipe's name but spells otherwise. */
const recipeOf: Record<string, string> = {
  iconButton: 'button',
  closeButton: 'button',
  toaster: 'toast',
  downloadTrigger: 'button',
  skipNavContent: 'skipNavLink',
}

const sources = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sources(path)
    return entry.name.endsWith('.tsx') ? [path] : []
  })

/** The values a file imports from the library, by their own names. */
const importsOf = (source: string): string[] =>
  [...source.matchAll(/import \{([^}]*)\} from '@chakra-ui\/react'/g)].flatMap(([, names = '']) =>
    names
      .split(',')
      .map((name) => name.trim().split(' as ')[0] ?? '')
      .filter(Boolean),
  )

const every = new Set([...Object.keys(recipes), ...Object.keys(slotRecipes)])
const ours = new Set([...Object.keys(libraryRecipes), ...Object.keys(librarySlotRecipes), 'button'])

test('every library component that has a recipe finds it in our system', () => {
  const unstyled = sources(client).flatMap((file) =>
    importsOf(readFileSync(file, 'utf8'))
      .map((name) => name.charAt(0).toLowerCase() + name.slice(1))
      .map((name) => recipeOf[name] ?? name)
      .filter((recipe) => every.has(recipe) && !ours.has(recipe))
      .map((recipe) => `${file.slice(client.length)} needs ${recipe}`),
  )
  expect(unstyled).toEqual([])
})

test('the system names no recipe that the library does not have', () => {
  expect([...ours].filter((name) => !every.has(name))).toEqual([])
})
