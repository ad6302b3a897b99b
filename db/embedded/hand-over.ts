import { closeSync, openSync } from 'node:fs'
import type { Identity } from './identity.ts'

export type HandedOver = {
  /** What the program calls a path. */
  nameOf: (path: string) => string
  /** For the program's `stdio`, behind the usual three. */
  descriptors: number[]
  close: () => void
}

/**
 * Opens files and folders for a program that may not pass through what lies above them, such as the home of root: it finds
 * them among its open files.
 */
export function handOver(paths: string[], identity: Identity): HandedOver {
  if (!identity) return { nameOf: (path) => path, descriptors: [], close: () => {} }
  const distinct = [...new Set(paths)]
  const descriptors: number[] = []
  const close = (): void => descriptors.forEach((descriptor) => closeSync(descriptor))
  try {
    for (const path of distinct) descriptors.push(openSync(path, 'r'))
  } catch (error) {
    close()
    throw error
  }
  return { nameOf: (path) => `/proc/self/fd/${3 + distinct.indexOf(path)}`, descriptors, close }
}
