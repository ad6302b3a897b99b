import { useCallback, useEffect, useRef, useState } from 'react'
import { t } from '../../i18n/t.ts'
import { useSession } from '../../lib/session.ts'
import { callPlayground, readJson } from './call.ts'
import { keepMessages, storedMessages, type Side } from './stored-conversations.ts'
import type { CallBody, Message, Reply } from './reply.ts'
import { doneMarker, wireMessages, withChunk } from './reply.ts'
import type { Settings } from './settings.ts'
import { useSessionCheck } from './use-session-check.ts'

let lastId = 0
const nextId = (): number => {
  lastId += 1
  return lastId
}

export function bodyOf(settings: Settings, model: string, messages: readonly Message[]): CallBody {
  const { group, system, temperature, temperatureSent, maxTokens } = settings
  return {
    model,
    group,
    messages: wireMessages(system, messages),
    stream: true,
    stream_options: { include_usage: true },
    ...(temperatureSent && { temperature }),
    ...(maxTokens > 0 && { max_tokens: maxTokens }),
  }
}

const begin = (request: CallBody): Reply => ({
  id: nextId(),
  role: 'assistant',
  status: 'loading',
  model: request.model,
  content: '',
  thinking: '',
  stopped: false,
  requestId: '',
  startedAt: performance.now(),
  request,
  events: [],
})

/** The reply with the events of one piece of its stream. */
const withEvents = (reply: Reply, events: readonly string[]): Reply => {
  const now = performance.now()
  const chunks = events.filter((data) => data !== doneMarker).map(readJson)
  const grown = chunks.reduce<Reply>(
    (before, chunk) => (typeof chunk === 'object' && chunk !== null ? withChunk(before, chunk, now) : before),
    reply,
  )
  return { ...grown, events: [...reply.events, ...events] }
}

/** What was said before the page was loaded anew; new messages are numbered on from there. */
function restored(reader: number, side: Side): readonly Message[] {
  const messages = storedMessages(reader, side)
  lastId = Math.max(lastId, ...messages.map(({ id }) => id))
  return messages
}

/** One model's side of the page: what was said, and the reply that is coming. */
export function useConversation(settings: Settings, model: string, side: Side) {
  const reader = useSession().user?.id ?? 0
  const [messages, setMessages] = useState(() => restored(reader, side))
  const [running, setRunning] = useState(false)
  const current = useRef<AbortController>(undefined)
  const checkSession = useSessionCheck()
  useEffect(() => () => current.current?.abort(), [])
  useEffect(() => {
    if (!running) keepMessages(reader, side, messages)
  }, [running, reader, side, messages])

  const answer = useCallback(
    async (before: readonly Message[]) => {
      const reply = begin(bodyOf(settings, model, before))
      const change = (grow: (reply: Reply) => Reply) =>
        setMessages((all) => all.map((one) => (one.id === reply.id && one.role === 'assistant' ? grow(one) : one)))
      const end = (more: Partial<Reply>) => change((one) => ({ ...one, ...more, endedAt: performance.now() }))
      const controller = new AbortController()
      current.current = controller
      setMessages([...before, reply])
      setRunning(true)
      let closed = false
      try {
        await callPlayground({
          body: reply.request,
          signal: controller.signal,
          onRequestId: (requestId) => change((one) => ({ ...one, requestId })),
          onEvents: (events) => {
            closed ||= events.includes(doneMarker)
            change((one) => withEvents(one, events))
          },
        })
        // Only a marked end is one: a connection that breaks may look like it.
        if (closed) end({ status: 'complete' })
        else end({ status: 'error', error: new Error(t('连接中断，回复不完整。')) })
      } catch (error) {
        if (controller.signal.aborted) end({ status: 'complete', stopped: true })
        else end({ status: 'error', error })
        void checkSession(error)
      } finally {
        if (current.current === controller) setRunning(false)
      }
    },
    [settings, model, checkSession],
  )

  const send = (content: string) => void answer([...messages, { id: nextId(), role: 'user', content }])
  /** Asks again for the reply and forgets what came after it. */
  const again = (id: number) => {
    const index = messages.findIndex((message) => message.id === id)
    if (index > 0) void answer(messages.slice(0, index))
  }
  const stop = useCallback(() => current.current?.abort(), [])
  const clear = () => {
    stop()
    setMessages([])
  }
  return { model, messages, running, send, again, stop, clear }
}

export type Conversation = ReturnType<typeof useConversation>
