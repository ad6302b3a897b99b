import { Box, Stack, Text } from '@chakra-ui/react'
import { MessagesSquare } from 'lucide-react'
import { useCallback, useEffect, useRef, useState } from 'react'
import { EmptyState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { ReplyView, TurnView } from './message.tsx'
import type { ListPrice } from './models.ts'
import { RawSheet } from './raw-sheet.tsx'
import { openCalls, type Message, type Reply } from './reply.ts'
import { ToolResults, ToolResultView } from './tool-calls.tsx'
import type { Conversation } from './use-conversation.ts'

const nearEndPixels = 48

/** Follows what grows below, words and figures alike, until the reader scrolls up to read. */
function useFollowing() {
  const box = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const follows = useRef(true)
  useEffect(() => {
    const grown = new ResizeObserver(() => {
      const element = box.current
      if (element && follows.current) element.scrollTop = element.scrollHeight
    })
    if (content.current) grown.observe(content.current)
    return () => grown.disconnect()
  }, [])
  const onScroll = () => {
    const element = box.current
    if (element) follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < nearEndPixels
  }
  return { box, content, onScroll }
}

type ThreadProps = { conversation: Conversation; price: ListPrice | undefined; titled: boolean }

/** What was said with one model. */
export function Thread({ conversation, price, titled }: ThreadProps) {
  const { messages, model, isReady, again, answerCalls } = conversation
  const calls = openCalls(messages)
  const last = messages.at(-1)
  const { box, content, onScroll } = useFollowing()
  const [inspected, setInspected] = useState<number>()
  const latest = useRef(again)
  latest.current = again
  const onAgain = useCallback((id: number) => void latest.current(id), [])
  const shown = messages.find((message): message is Reply => message.id === inspected && message.role === 'assistant')
  return (
    <Stack flex="1" minW="0" minH="0" gap="0">
      {titled && (
        <Text textStyle="xs" fontFamily="mono" color="fg.muted" px={{ base: '4', sm: '6' }} py="2" truncate>
          {model}
        </Text>
      )}
      <Box
        ref={box}
        flex="1"
        minH="0"
        overflowY="auto"
        px={{ base: '4', sm: '6' }}
        py="4"
        tabIndex={0}
        role="log"
        aria-label={t('与 {model} 的对话', { model })}
        onScroll={onScroll}
        focusVisibleRing="inside"
        display="flex"
        flexDirection="column"
      >
        {messages.length === 0 && (
          <Box my="auto">
            <EmptyState
              icon={MessagesSquare}
              title={t('和模型聊聊')}
              description={t('每次回复都按正常价格从账户余额扣费，费用显示在回复下方。')}
            />
          </Box>
        )}
        <Stack ref={content} gap="6" w="full" maxW="3xl" mx="auto">
          {messages.map((message) => (
            <MessageView
              key={message.id}
              message={message}
              price={price}
              isReady={isReady}
              onAgain={onAgain}
              onInspect={setInspected}
            />
          ))}
          {last && calls.length > 0 && (
            <ToolResults
              conversation={conversation.id}
              reply={last.id}
              calls={calls}
              isReady={isReady}
              onSubmit={answerCalls}
            />
          )}
        </Stack>
      </Box>
      <RawSheet reply={shown} onClose={() => setInspected(undefined)} />
    </Stack>
  )
}

type MessageViewProps = {
  message: Message
  price: ListPrice | undefined
  isReady: boolean
  onAgain: (id: number) => void
  onInspect: (id: number) => void
}

function MessageView({ message, ...rest }: MessageViewProps) {
  if (message.role === 'user') return <TurnView turn={message} />
  if (message.role === 'tool') return <ToolResultView result={message} />
  return <ReplyView reply={message} {...rest} />
}
