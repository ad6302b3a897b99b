import type { LucideIcon } from 'lucide-react'
import { createStore, useStore } from './store.ts'

export type Command = {
  id: string
  title: string
  /** The heading it stands under. */
  group: string
  icon?: LucideIcon
  /** A fainter second text: an id, a key that does the same. */
  note?: string
  /** Other words for the same thing, in any language; looked through, not shown. */
  keywords?: string
  run: () => void
}

/** Finds things by what was typed: users, tokens, a log by its request id. */
export type CommandSource = { id: string; search: (words: string, signal: AbortSignal) => Promise<readonly Command[]> }

const sources = createStore<readonly CommandSource[]>([])

/** Adds a search to the palette for good; returns how to take it away again. */
export function registerCommandSource(source: CommandSource): () => void {
  sources.set([...sources.get().filter((other) => other.id !== source.id), source])
  return () => sources.set(sources.get().filter((other) => other !== source))
}

export const useCommandSources = (): readonly CommandSource[] => useStore(sources)

/** Commands in which every typed word occurs, those that begin with it first. */
export function matchCommands(list: readonly Command[], typed: string): Command[] {
  const words = typed.trim().toLowerCase().split(/\s+/).filter(Boolean)
  const hits = list.filter((command) => {
    const text = `${command.title} ${command.group} ${command.note ?? ''} ${command.keywords ?? ''}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const begins = (command: Command) => words[0] !== undefined && command.title.toLowerCase().startsWith(words[0])
  return [...hits.filter(begins), ...hits.filter((command) => !begins(command))]
}
