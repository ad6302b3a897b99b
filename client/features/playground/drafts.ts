import { perReader, readerKey } from '../../lib/reader-storage.ts'
import { useSession } from '../../lib/session.ts'
import { createStore, useStore } from '../../lib/store.ts'

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

/** Of this tab alone: two tabs may hold one conversation, and each something else to say in it. */
function read(key: string): Drafts {
  try {
    return new Map(JSON.parse(sessionStorage.getItem(key) ?? '[]') as [string, Draft][])
  } catch {
    // Storage may be forbidden; drafts then last until the page is loaded anew.
    return new Map()
  }
}

function write(key: string, drafts: Drafts): void {
  const lean = [...drafts].map(([id, draft]) => [id, { ...draft, images: [] }] as const)
  for (const form of [[...drafts], lean]) {
    try {
      return form.length > 0 ? sessionStorage.setItem(key, JSON.stringify(form)) : sessionStorage.removeItem(key)
    } catch {
      // There is no room for the images, or none at all.
    }
  }
}

/** A reader's own. They outlive the page and the session in memory, and in the tab's storage whatever loads the page anew. */
const draftsOf = perReader((userId) => {
  const key = readerKey('playground-drafts', userId)
  const store = createStore(read(key))
  store.subscribe(() => write(key, store.get()))
  if (typeof window === 'undefined') return store
  window.addEventListener('storage', ({ key: removed, newValue }) => {
    // Whoever has signed out wants nothing of theirs to stay: here, or in another tab, where the conversations alone are stored.
    if (newValue === null && (removed === key || removed === readerKey('playground-conversations', userId)))
      store.set(new Map())
  })
  return store
})

export type DraftChange = (before: Draft) => Partial<Draft>

export function changeDraft(userId: number, conversation: string, change: DraftChange): void {
  const store = draftsOf(userId)
  const before = store.get().get(conversation) ?? blank
  const changed = { ...before, ...change(before) }
  const others = [...store.get()].filter(([id]) => id !== conversation)
  store.set(new Map(isBlank(changed) ? others : [...others, [conversation, changed]]))
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
