import { createStoredJson } from './stored.ts'

/** Which announcement this browser has shown already, by its length and a sum of its characters. */
export const shownAnnouncement = createStoredJson('announcement', '')

export function fingerprintOf(text: string): string {
  let sum = 0
  for (const character of text) sum = (Math.imul(sum, 31) + (character.codePointAt(0) ?? 0)) | 0
  return `${text.length}.${sum >>> 0}`
}
