import { Box, Flex, HStack, Image, Spinner, Stack, Text } from '@chakra-ui/react'
import { Braces, ChevronRight, RotateCw } from 'lucide-react'
import { memo } from 'react'
import { CallFailureText } from '../../components/call-failure.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { IconButton } from '../../components/icon-button.tsx'
import { Markdown } from '../../components/markdown.tsx'
import { Notice } from '../../components/notice.tsx'
import { t } from '../../i18n/t.ts'
import type { ListPrice } from './models.ts'
import type { Reply, Turn } from './reply.ts'
import { ReplyFacts } from './reply-facts.tsx'
import { ToolCalls } from './tool-calls.tsx'
import { Details, Summary } from '../../components/folded.tsx'

export const TurnView = memo(function TurnView({ turn }: { turn: Turn }) {
  return (
    <Flex justify="flex-end" data-turn="">
      <Stack gap="2" maxW="85%" align="flex-end">
        {turn.images && turn.images.length > 0 && (
          <HStack gap="2" wrap="wrap" justify="flex-end">
            {turn.images.map((image, index) => (
              <Image
                key={index}
                src={image}
                alt={t('图片 {number}', { number: index + 1 })}
                maxH="40"
                maxW="full"
                borderRadius="l3"
              />
            ))}
          </HStack>
        )}
        {turn.content !== '' && (
          <Box bg="bg.muted" borderRadius="xl" px="3.5" py="2" whiteSpace="pre-wrap" overflowWrap="anywhere">
            {turn.content}
          </Box>
        )}
      </Stack>
    </Flex>
  )
})

function Thinking({ words, busy }: { words: string; busy: boolean }) {
  return (
    <Details>
      <Summary color="fg.muted">
        <ChevronRight size={14} aria-hidden />
        {busy ? t('正在思考…') : t('思考过程')}
      </Summary>
      <Box
        mt="2"
        ps="3"
        borderStartWidth="2px"
        color="fg.muted"
        textStyle="sm"
        whiteSpace="pre-wrap"
        overflowWrap="anywhere"
      >
        {words}
      </Box>
    </Details>
  )
}

type ReplyViewProps = {
  reply: Reply
  price: ListPrice | undefined
  /** The model can be asked again. */
  isReady: boolean
  onAgain: (id: number) => void
  onInspect: (id: number) => void
}

export const ReplyView = memo(function ReplyView({ reply, price, isReady, onAgain, onInspect }: ReplyViewProps) {
  const { status, content, thinking, toolCalls, stopped, finishReason, error } = reply
  const ended = status === 'complete' || status === 'error'
  return (
    <Stack gap="2" data-reply={status} aria-busy={!ended}>
      {thinking !== '' && <Thinking words={thinking} busy={!ended && content === '' && toolCalls.length === 0} />}
      {content !== '' && <Markdown source={content} />}
      {toolCalls.length > 0 && <ToolCalls calls={toolCalls} />}
      {status === 'loading' && <Spinner size="sm" color="fg.muted" aria-label={t('等待回复')} />}
      {status === 'error' && (
        <Notice tone="bad" isAlert>
          <CallFailureText error={error} />
        </Notice>
      )}
      {status === 'complete' && content === '' && thinking === '' && toolCalls.length === 0 && !stopped && (
        <Text color="fg.muted">{t('回复为空')}</Text>
      )}
      {ended && (
        <Flex gap="2" align="center" wrap="wrap" minH="7">
          <HStack gap="0.5" ms="-1.5">
            {content !== '' && <CopyButton text={content} label={t('复制回复')} />}
            <IconButton
              size="xs"
              icon={RotateCw}
              label={t('重新回答')}
              disabled={!isReady}
              onClick={() => onAgain(reply.id)}
            />
            <IconButton size="xs" icon={Braces} label={t('请求与事件')} onClick={() => onInspect(reply.id)} />
          </HStack>
          {(stopped || finishReason === 'length') && (
            <Text textStyle="xs" color="fg.muted">
              {stopped ? t('已停止') : t('达到最大输出 token，回复被截断')}
            </Text>
          )}
          <ReplyFacts reply={reply} price={price} />
        </Flex>
      )}
    </Stack>
  )
})
