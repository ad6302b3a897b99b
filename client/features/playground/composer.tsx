import { Box, Flex, Textarea } from '@chakra-ui/react'
import { ArrowUp, Square } from 'lucide-react'
import type { KeyboardEvent } from 'react'
import { useEffect, useRef, useState } from 'react'
import { IconButton } from '../../components/icon-button.tsx'
import { t } from '../../i18n/t.ts'
import { useIsPhone } from '../../lib/use-media.ts'

type ComposerProps = { running: boolean; disabled: boolean; onSend: (text: string) => void; onStop: () => void }

/** Enter sends and Shift+Enter begins a line; while a reply comes the button stops it, as Escape does. */
export function Composer({ running, disabled, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState('')
  const input = useRef<HTMLTextAreaElement>(null)
  const ready = text.trim() !== '' && !running && !disabled
  const phone = useIsPhone()
  useEffect(() => {
    // On a phone the keyboard would cover half of the page before anything was read.
    if (!phone) input.current?.focus({ preventScroll: true })
  }, [phone])
  const send = () => {
    if (!ready) return
    onSend(text.trim())
    setText('')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && running) onStop()
    // Enter that ends the choice of a Chinese word is not the end of the message.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <Box px={{ base: '3', sm: '6' }} pb={{ base: '3', sm: '4' }} flexShrink="0">
      <Flex
        maxW="3xl"
        mx="auto"
        gap="2"
        align="flex-end"
        borderWidth="1px"
        borderColor="border.emphasized"
        borderRadius="xl"
        bg="bg.panel"
        p="1.5"
        _focusWithin={{ borderColor: 'accent.focusRing' }}
      >
        <Textarea
          ref={input}
          value={text}
          rows={1}
          autoresize
          maxH="12rem"
          minH="8"
          border="none"
          bg="transparent"
          py="1.5"
          px="2"
          outline="none"
          focusRing="none"
          textStyle="md"
          resize="none"
          aria-label={t('消息')}
          placeholder={phone ? t('输入消息') : t('输入消息，Enter 发送，Shift+Enter 换行')}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        {running ? (
          <IconButton variant="solid" icon={Square} label={t('停止')} tip={`${t('停止')} Esc`} onClick={onStop} />
        ) : (
          <IconButton variant="solid" icon={ArrowUp} label={t('发送')} disabled={!ready} onClick={send} />
        )}
      </Flex>
    </Box>
  )
}
