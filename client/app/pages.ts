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

/** A page is fetched when it is first visited. */
export function lazyPage(name: string): LazyExoticComponent<ComponentType> {
  const load = modules[fileOf(name)]
  return lazy(async () => {
    if (load === undefined) throw new Error(`There is no page ${name}`)
    return { default: (await load()).Page }
  })
}

/** Fetches a page ahead of the click. */
export const preloadPage = (name: string): void => void modules[fileOf(name)]?.().catch(() => undefined)
