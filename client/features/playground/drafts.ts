import { perReader, readerKey } from '../../lib/reader-storage.ts'
import { useSession } from '../../lib/session.ts'
import { createStore, type Store, useStore } from '../../lib/store.ts'

/** What is typed in a conversation and not sent yet. */
export type Draft = {
  text: string
  /** `data:` addresses. */
  images: readonly string[]
  /** What called functions are to return, by the id of the reply that calls them. */
  results: Readonly<Record<number, readonly string[] | undefined>>
}

/** By conversation; the one that was typed in last is the last. */
type Drafts = ReadonlyMap<string, Draft>

const blank: Draft = { text: '', images: [], results: {} }

const holdsMessage = ({ text, images }: Draft): boolean => text.trim() !== '' || images.length > 0
const isBlank = (draft: Draft): boolean =>
  draft.text === '' && draft.images.length === 0 && Object.values(draft.results).every((typed) => !typed)

/** Where a reader's drafts are stored: their images apart, since a draft is written at every key that is pressed. */
type Keys = { texts: string; images: string }

/** By conversation. */
type Images = ReadonlyMap<string, Draft['images']>

const imagesOf = (drafts: Drafts): Images =>
  new Map([...drafts].flatMap(([id, { images }]) => (images.length > 0 ? [[id, images] as const] : [])))

const stored = <Value>(key: string): [string, Value][] =>
  JSON.parse(sessionStorage.getItem(key) ?? '[]') as [string, Value][]

/** Of this tab alone: two tabs may hold one conversation, and each something else to say in it. */
function read(keys: Keys): Drafts {
  try {
    const images: Images = new Map(stored<Draft['images']>(keys.images))
    return new Map(
      stored<Draft>(keys.texts).map(([id, draft]) => [id, { ...draft, images: images.get(id) ?? [] }] as const),
    )
  } catch {
    // Storage may be forbidden; drafts then last until the page is loaded anew.
    return new Map()
  }
}

/** @returns whether there was room */
function write(key: string, entries: readonly unknown[]): boolean {
  try {
    if (entries.length > 0) sessionStorage.setItem(key, JSON.stringify(entries))
    else sessionStorage.removeItem(key)
    return true
  } catch {
    return false
  }
}

/** Stores what changes. Where there is no room for the images, or none beside them, the rest is stored without. */
function keepStored(store: Store<Drafts>, keys: Keys): void {
  let written = imagesOf(store.get())
  const dropImages = (): void => {
    write(keys.images, [])
    written = new Map()
  }
  store.subscribe(() => {
    const images = imagesOf(store.get())
    if (images.size !== written.size || [...images].some(([id, own]) => written.get(id) !== own)) {
      written = images
      if (!write(keys.images, [...images])) dropImages()
    }
    const texts = [...store.get()].map(([id, draft]) => [id, { ...draft, images: [] }] as const)
    if (write(keys.texts, texts)) return
    dropImages()
    write(keys.texts, texts)
  })
}

/** A reader's own. They outlive the page and the session in memory, and in the tab's storage whatever loads the page anew. */
const draftsOf = perReader((userId) => {
  const keys = { texts: readerKey('playground-drafts', userId), images: readerKey('playground-draft-images', userId) }
  const store = createStore(read(keys))
  keepStored(store, keys)
  if (typeof window === 'undefined') return store
  window.addEventListener('storage', ({ key: removed, newValue }) => {
    // Whoever has signed out wants nothing of theirs to stay: here, or in another tab, where the conversations alone are stored.
    if (newValue === null && (removed === keys.texts || removed === readerKey('playground-conversations', userId)))
      store.set(new Map())
  })
  return store
})

export type DraftChange = (before: Draft) => Partial<Draft>

export function changeDraft(userId: number, conversation: string, change: DraftChange): void {
  const store = draftsOf(userId)
  const before = store.get().get(conversation) ?? blank
  const changed = { ...before, ...change(before) }
  const drafts = new Map(store.get())
  drafts.delete(conversation)
  if (!isBlank(changed)) drafts.set(conversation, changed)
  store.set(drafts)
}

/** What was typed in a conversation that is removed is said in another one. */
export function moveMessage(userId: number, from: string, to: string): void {
  const { text, images } = draftsOf(userId).get().get(from) ?? blank
  dropDraft(userId, from)
  changeDraft(userId, to, () => ({ text, images }))
}

export const dropDraft = (userId: number, conversation: string): void => changeDraft(userId, conversation, () => blank)

/** The conversations in which a message waits to be sent, the one that was typed in last first. */
export const drafted = (userId: number): string[] =>
  [...draftsOf(userId).get()].flatMap(([id, draft]) => (holdsMessage(draft) ? [id] : [])).toReversed()

/** What is typed in a conversation, and how to go on typing. */
export function useDraft(conversation: string): { draft: Draft; change: (change: DraftChange) => void } {
  const reader = useSession().user?.id ?? 0
  const draft = useStore(draftsOf(reader)).get(conversation) ?? blank
  return { draft, change: (change) => changeDraft(reader, conversation, change) }
}
