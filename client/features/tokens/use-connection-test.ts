import { useEffect, useRef, useState } from 'react'
import { t } from '../../i18n/t.ts'
import { failureOf } from '../../lib/relay-call.ts'

export type Step<Result> =
  | { state: 'running' }
  | { state: 'done'; result: Result; milliseconds: number }
  | { state: 'failed'; error: unknown }

type ModelList = { data?: unknown[] }
type ChatReply = { choices?: { message?: { content?: string | null } }[] }

/** The page's own origin, whatever address the site gives to others: it is the one that this browser reaches. */
async function call<Reply>(path: string, key: string, more: RequestInit): Promise<Reply> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const response = await fetch(path, { ...more, headers, credentials: 'omit' })
  if (!response.ok) throw await failureOf(response)
  return (await response.json()) as Reply
}

async function attempt<Result>(work: () => Promise<Result>, show: (step: Step<Result>) => void): Promise<boolean> {
  show({ state: 'running' })
  const start = performance.now()
  try {
    show({ state: 'done', result: await work(), milliseconds: performance.now() - start })
    return true
  } catch (error) {
    show({ state: 'failed', error })
    return false
  }
}

export function useConnectionTest(key: string, model: string) {
  const [list, setList] = useState<Step<number>>()
  const [chat, setChat] = useState<Step<string>>()
  const leaving = useRef(new AbortController())
  useEffect(() => {
    leaving.current = new AbortController()
    return () => leaving.current.abort()
  }, [])

  const run = async () => {
    const { signal } = leaving.current
    setChat(undefined)
    const listed = await attempt(async () => {
      const { data } = await call<ModelList>('/v1/models', key, { signal })
      return data?.length ?? 0
    }, setList)
    if (!listed || signal.aborted) return
    await attempt(async () => {
      if (model === '') throw new Error(t('还没有可用的模型'))
      const messages = [{ role: 'user', content: 'Say hello in five words or fewer.' }]
      const body = JSON.stringify({ model, messages, max_tokens: 64 })
      const reply = await call<ChatReply>('/v1/chat/completions', key, { method: 'POST', body, signal })
      return reply.choices?.[0]?.message?.content ?? ''
    }, setChat)
  }
  const running = list?.state === 'running' || chat?.state === 'running'
  return { list, chat, running, run }
}
