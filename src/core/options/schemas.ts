import { withoutTrailingSlashes } from '../trailing.ts'
import { z } from 'zod'
import type { Problem } from '#core/errors.ts'

export const text = z.string()
export const singleLine = z.string().max(4096).trim()
export const flag = z.boolean()
export const count = z.int().min(0)
/** A figure of a price or ratio. */
export const figure = z.number().min(0)
export const figures = z.record(z.string(), z.number().min(0))
export const names = z.array(z.string())

/** An address without its closing slashes, or nothing. */
export const address = z
  .string()
  .max(4096)
  .overwrite((value) => withoutTrailingSlashes(value.trim()))

/** Root may point an option at a private address, never at the link-local range where machines keep credentials. */
export function checkAddress(key: string, label: string) {
  return (value: string): Problem | undefined => {
    if (value === '') return undefined
    const url = URL.parse(value)
    if (!url || !/^https?:$/.test(url.protocol)) return { code: 'option.not_address', params: { key, label } }
    const linkLocal = /^(169\.254\.|\[fe[89ab][0-9a-f]:|\[::ffff:a9fe:)/i.test(url.hostname)
    return linkLocal ? { code: 'option.link_local_address', params: { key, label } } : undefined
  }
}
