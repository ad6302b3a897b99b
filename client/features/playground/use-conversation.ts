import { useCallback, useEffect, useRef, useState } from 'react'
import { confirm } from '../../components/confirm.tsx'
import { t } from '../../i18n/t.ts'
import { currentUser, useSession } from '../../lib/session.ts'
import { callPlayground, readJson } from './call.ts'
import { bodyOf } from './call-body.ts'
import { conversationsOf, isChangedElsewhere, keepMessages, storedMessages, type Side } from './stored-conversations.ts'
import type { CallBody, Message, Reply } from './reply.ts'
import { doneMarker, openCalls, withChunk } from './reply.ts'
import type { Settings } from './settings.ts'
import { useParameters } from './use-parameters.ts'
import { useSessionCheck } from './use-session-check.ts'

let lastId = 0
const nextId = (): number => {
  lastId += 1
  return lastId
}

const begin = (request: CallBody): Reply => ({
  id: nextId(),
  role: 'assistant',
  status: 'loading',
  model: request.model,
  content: '',
  thinking: '',
  toolCalls: [],
  stopped: false,
  finishReason: '',
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
function restored(reader: number, id: string, side: Side): readonly Message[] {
  const messages = storedMessages(reader, id, side)
  lastId = Math.max(lastId, ...messages.map(({ id }) => id))
  return messages
}

export type Words = { text: string; images: readonly string[] }

/** Which conversation, and which of its two sides. */
export type Place = { id: string; side: Side }

/** One model's side of the page: what was said, and the reply that is coming. */
export function useConversation(settings: Settings, model: string, { id: conversation, side }: Place) {
  const reader = useSession().user?.id ?? 0
  const { parameters, isKnown } = useParameters(model)
  const [messages, setMessages] = useState(() => restored(reader, conversation, side))
  const [running, setRunning] = useState(false)
  const current = useRef<AbortController>(undefined)
  const checkSession = useSessionCheck()
  const keep = () => {
    // Whoever has signed out meanwhile leaves nothing behind, least of all under another's name.
    if (currentUser()?.id === reader) keepMessages(reader, { id: conversation, side, model, messages })
  }
  const latest = useRef(keep)
  latest.current = keep
  useEffect(() => {
    // A page that is loaded anew, or that a phone ends in the background, is not unmounted first.
    const leave = () => document.visibilityState === 'hidden' && latest.current()
    document.addEventListener('visibilitychange', leave)
    return () => document.removeEventListener('visibilitychange', leave)
  }, [])
  useEffect(
    () => () => {
      current.current?.abort()
      // What has come of a reply when its conversation is left stays.
      latest.current()
    },
    [],
  )
  useEffect(() => {
    if (!running) latest.current()
  }, [running, messages])
  useEffect(() => {
    if (running) return undefined
    return conversationsOf(reader).subscribe(() => {
      if (isChangedElsewhere(reader, { id: conversation, side, messages }))
        setMessages(restored(reader, conversation, side))
    })
  }, [running, reader, conversation, side, messages])

  const answer = useCallback(
    async (before: readonly Message[]) => {
      const reply = begin(bodyOf(settings, { model, parameters }, before))
      const change = (grow: (reply: Reply) => Reply) =>
        setMessages((all) => all.map((one) => (one.id === reply.id && one.role === 'assistant' ? grow(one) : one)))
      const end = (more: Partial<Reply>) => change((one) => ({ ...one, ...more, endedAt: performance.now() }))
      // Another answer than the one that is coming is wanted: it would go on unseen, and be paid for.
      current.current?.abort()
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
    [settings, model, parameters, checkSession],
  )

  const send = ({ text, images }: Words) =>
    void answer([
      ...messages,
      { id: nextId(), role: 'user', content: text, ...(images.length > 0 && parameters.images && { images }) },
    ])
  /** Asks again for the reply and forgets what came after it, which is not done unasked. */
  const again = async (id: number) => {
    const index = messages.findIndex((message) => message.id === id)
    if (index <= 0) return
    const count = messages.length - index - 1
    const question = {
      title: t('重新回答？'),
      body: t('此回复之后的 {count} 条消息会被删除。', { count }),
      confirmLabel: t('删除并重新回答'),
      danger: true,
    }
    if (count === 0 || (await confirm(question))) void answer(messages.slice(0, index))
  }
  /** Goes on with what the called functions returned, in the order of the calls. */
  const answerCalls = (results: readonly string[]) =>
    void answer([
      ...messages,
      ...openCalls(messages).map(({ id, name }, index) => ({
        id: nextId(),
        role: 'tool' as const,
        callId: id,
        name,
        content: results[index] ?? '',
      })),
    ])
  const stop = useCallback(() => current.current?.abort(), [])
  const clear = () => {
    stop()
    setMessages([])
  }
  const body = () => bodyOf(settings, { model, parameters }, messages)
  return {
    id: conversation,
    model,
    parameters,
    isKnown,
    /** A call before would be paid for without what was chosen for this model, or with what the model refuses. */
    isReady: model !== '' && isKnown,
    messages,
    running,
    send,
    again,
    answerCalls,
    stop,
    clear,
    body,
  }
}

export type Conversation = ReturnType<typeof useConversation>
