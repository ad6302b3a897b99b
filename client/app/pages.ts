import { lazy } from 'react'
import type { ComponentType, LazyExoticComponent } from 'react'

type PageModule = { Page: ComponentType }

const modules = import.meta.glob<PageModule>(['../features/*/page.tsx', '../features/*/*-page.tsx'])

/** `tokens` is features/tokens/page.tsx, `auth/login` is features/auth/login-page.tsx; each exports `Page`. */
const fileOf = (name: string): string => {
  const [feature, page] = name.split('/')
  return `../features/${feature}/${page === undefined ? '' : `${page}-`}page.tsx`
}

export const hasPage = (name: string): boolean => fileOf(name) in modules

export const pageFiles = (): string[] => Object.keys(modules)

export const isFileOf = (file: string, name: string): boolean => file === fileOf(name)

const key = 'reloaded-for-a-page'

/** Whether the mark could be set: without storage nobody could tell a second time from the first. */
function mark(value: 'yes' | null): boolean {
  try {
    if (value === null) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, value)
    return true
  } catch {
    return false
  }
}

const isMarked = (): boolean => {
  try {
    return sessionStorage.getItem(key) !== null
  } catch {
    return true
  }
}

/**
 * After an upgrade the files that the open console names are gone: the address is opened again, by the new console. Once; whoever has no
 * connection sees the error instead.
 * @throws what kept the page from being fetched
 */
function reloadOnce(error: unknown): Promise<never> {
  if (!navigator.onLine || isMarked() || !mark('yes')) throw error
  window.location.reload()
  return new Promise(() => {})
}

type LazyPage = LazyExoticComponent<ComponentType>

const pages = new Map<string, LazyPage>()
const missing = new Set<string>()

function lazyPage(name: string): LazyPage {
  const load = modules[fileOf(name)]
  return lazy(async () => {
    if (load === undefined) throw new Error(`There is no page ${name}`)
    try {
      const { Page } = await load().catch(reloadOnce)
      mark(null)
      return { default: Page }
    } catch (error) {
      missing.add(name)
      throw error
    }
  })
}

/** A page is fetched when it is first visited. */
export function pageOf(name: string): LazyPage {
  const page = pages.get(name) ?? lazyPage(name)
  pages.set(name, page)
  return page
}

/** What `lazy` could not fetch once it never asks for again: the next visit begins anew. Not before the failure is shown, or it would be at once. */
export function forgetMissingPages(): void {
  for (const name of missing) pages.delete(name)
  missing.clear()
}

/** Fetches a page ahead of the click. */
export const preloadPage = (name: string): void => void modules[fileOf(name)]?.().catch(() => undefined)
