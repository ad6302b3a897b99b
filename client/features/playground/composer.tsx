import { Box, Flex, HStack, Image, Textarea } from '@chakra-ui/react'
import { ArrowUp, ImagePlus, Square, X } from 'lucide-react'
import type { ClipboardEvent, DragEvent, KeyboardEvent } from 'react'
import { useEffect, useRef, useState } from 'react'
import { IconButton } from '../../components/icon-button.tsx'
import { notify } from '../../components/notify.ts'
import { t } from '../../i18n/t.ts'
import { useFirstFocus } from '../../lib/first-focus.ts'
import { isComposing } from '../../lib/keyboard.ts'
import { useIsPhone } from '../../lib/use-media.ts'
import { type DraftChange, useDraft } from './drafts.ts'
import { imagesIn, mostImages, shrunk } from './images.ts'
import type { Words } from './use-conversation.ts'

type ComposerProps = {
  conversation: string
  running: boolean
  /** A model, or what it takes, is not known yet: what is sent meanwhile goes once it is. */
  waiting: boolean
  /** Whether a model takes images. */
  takesImages: boolean
  onSend: (words: Words) => void
  onStop: () => void
}

type AttachmentsProps = {
  images: readonly string[]
  change: (change: DraftChange) => void
  onFailed: () => void
}

/** Images that go along with the next message: chosen, pasted or dropped. `isReading`: some are being made smaller yet. */
function useAttachments({ images, change, onFailed }: AttachmentsProps) {
  const [reading, setReading] = useState(0)
  const add = async (files: readonly File[]) => {
    setReading((count) => count + 1)
    try {
      const added = await Promise.all(files.map(shrunk))
      change((before) => ({ images: [...before.images, ...added].slice(0, mostImages) }))
      if (images.length + added.length > mostImages) notify.warning(t('最多添加 {count} 张图片', { count: mostImages }))
    } catch (error) {
      notify.error(error, t('无法读取图片'))
      onFailed()
    } finally {
      setReading((count) => count - 1)
    }
  }
  const remove = (index: number) => change((before) => ({ images: before.images.filter((_, at) => at !== index) }))
  return { isReading: reading > 0, add, remove }
}

/** Enter sends and Shift+Enter begins a line; while a reply comes the button stops it, as Escape does. */
export function Composer({ conversation, running, waiting, takesImages, onSend, onStop }: ComposerProps) {
  const { draft, change } = useDraft(conversation)
  const { text } = draft
  const [isHeld, hold] = useState(false)
  const input = useRef<HTMLTextAreaElement>(null)
  // A message is not sent without what belongs to it.
  const attachments = useAttachments({ images: draft.images, change, onFailed: () => hold(false) })
  const images = takesImages ? draft.images : []
  const isEarly = waiting || attachments.isReading
  const ready = (text.trim() !== '' || images.length > 0 || attachments.isReading) && !running
  const phone = useIsPhone()
  // On a phone the keyboard would cover half of the page before anything was read.
  useFirstFocus(input, !phone)
  const send = () => {
    hold(ready && isEarly)
    if (!ready || isEarly) return
    onSend({ text: text.trim(), images })
    change(() => ({ text: '', images: [] }))
  }
  useEffect(() => {
    if (isHeld && !isEarly) send()
  })
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter that ends the choice of a Chinese word is not the end of the message.
    if (isComposing(event)) return
    if (event.key === 'Escape' && running) onStop()
    if (event.key !== 'Enter' || event.shiftKey) return
    event.preventDefault()
    send()
  }
  const take = (event: ClipboardEvent | DragEvent, transfer: DataTransfer) => {
    const files = imagesIn(transfer.files)
    if (!takesImages || files.length === 0) return
    event.preventDefault()
    void attachments.add(files)
  }
  return (
    <Box px={{ base: '3', sm: '6' }} pb={{ base: '3', sm: '4' }} flexShrink="0">
      <Box
        maxW="3xl"
        mx="auto"
        borderWidth="1px"
        borderColor="border.emphasized"
        borderRadius="xl"
        bg="bg.panel"
        p="1.5"
        _focusWithin={{ borderColor: 'accent.focusRing' }}
        onDragOver={(event) => event.dataTransfer.types.includes('Files') && event.preventDefault()}
        onDrop={(event) => {
          // Else the browser would leave the page for the file.
          if (event.dataTransfer.files.length > 0) event.preventDefault()
          take(event, event.dataTransfer)
        }}
      >
        <Attached images={images} onRemove={attachments.remove} />
        <Flex gap="2" align="flex-end">
          {takesImages && <ImageButton onFiles={(files) => void attachments.add(files)} />}
          <Textarea
            ref={input}
            value={text}
            rows={1}
            autoresize
            maxH="48"
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
            onChange={(event) => {
              hold(false)
              const { value } = event.target
              change(() => ({ text: value }))
            }}
            onKeyDown={onKeyDown}
            onPaste={(event) => take(event, event.clipboardData)}
          />
          {running ? (
            <IconButton variant="solid" icon={Square} label={t('停止')} tip={`${t('停止')} Esc`} onClick={onStop} />
          ) : (
            <IconButton
              variant="solid"
              icon={ArrowUp}
              label={t('发送')}
              disabled={!ready}
              loading={isHeld}
              onClick={send}
            />
          )}
        </Flex>
      </Box>
    </Box>
  )
}

function ImageButton({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const chooser = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={chooser}
        type="file"
        accept="image/*"
        multiple
        hidden
        onChange={(event) => {
          onFiles(imagesIn(event.target.files))
          // The same file may be chosen again.
          event.target.value = ''
        }}
      />
      <IconButton icon={ImagePlus} label={t('添加图片')} onClick={() => chooser.current?.click()} />
    </>
  )
}

function Attached({ images, onRemove }: { images: readonly string[]; onRemove: (index: number) => void }) {
  if (images.length === 0) return null
  return (
    <HStack gap="2" wrap="wrap" p="1" pb="2">
      {images.map((image, index) => (
        <Box key={index} position="relative">
          <Image
            src={image}
            alt={t('图片 {number}', { number: index + 1 })}
            boxSize="14"
            objectFit="cover"
            borderRadius="l2"
          />
          <IconButton
            size="2xs"
            variant="solid"
            position="absolute"
            top="-1.5"
            insetEnd="-1.5"
            borderRadius="full"
            icon={X}
            label={t('移除图片 {number}', { number: index + 1 })}
            onClick={() => onRemove(index)}
          />
        </Box>
      ))}
    </HStack>
  )
}
