import { Box, Flex, HStack, Heading, Text } from '@chakra-ui/react'
import { ArrowLeft, ChevronDown, ChevronUp, Printer, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useEffect, useRef } from 'react'
import { t } from '../i18n/t.ts'
import { isTyping } from '../lib/keyboard.ts'
import { useStatus } from '../lib/status.ts'
import { useOrigin } from '../lib/use-origin.ts'
import { useIsPhone } from '../lib/use-media.ts'
import { HeadingsBelow } from './heading-level.ts'
import { IconButton } from './icon-button.tsx'

type DetailPanelProps = {
  /** Changes with what is shown; undefined is closed. */
  openId: string | number | undefined
  onClose: () => void
  title: ReactNode
  /** Read out as the panel's name. */
  label: string
  subtitle?: ReactNode
  /** Undefined at the ends of the page. */
  onPrevious?: (() => void) | undefined
  onNext?: (() => void) | undefined
  actions?: ReactNode
  /** Somebody may want it on paper. */
  printable?: boolean
  children: ReactNode
}

/** Gives the focus back when the panel closes, unless the reader has gone elsewhere meanwhile, as to another row. */
function useReturningFocus(isOpen: boolean) {
  const origin = useOrigin(isOpen)
  useEffect(() => {
    if (!isOpen) return
    return () => {
      const active = document.activeElement
      const lost = active === null || active === document.body || active.closest('[data-detail-panel]') !== null
      if (lost) origin()?.focus({ preventScroll: true })
    }
  }, [isOpen, origin])
}

/** What a row holds, beside the table; the table stays in reach. The whole page on phones. */
export function DetailPanel(props: DetailPanelProps) {
  const { openId, onClose, title, label, subtitle, onPrevious, onNext, actions, printable = false, children } = props
  const { systemName } = useStatus()
  const phone = useIsPhone()
  const isOpen = openId !== undefined
  const panel = useRef<HTMLDivElement>(null)
  const close = useRef(onClose)
  close.current = onClose
  useReturningFocus(isOpen)
  useEffect(() => {
    if (isOpen && phone) panel.current?.focus()
  }, [isOpen, phone])
  useEffect(() => {
    if (!isOpen) return
    const listen = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented && !isTyping(event.target)) close.current()
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [isOpen])
  if (!isOpen) return null
  return (
    <Flex
      ref={panel}
      as="aside"
      data-detail-panel=""
      aria-label={label}
      tabIndex={-1}
      direction="column"
      position="fixed"
      top={{ base: '0', sm: '56px' }}
      insetEnd="0"
      bottom="0"
      w={{ base: 'full', sm: 'min(640px, 60vw)' }}
      bg="bg.panel"
      borderStartWidth={{ base: '0', sm: '1px' }}
      boxShadow={{ base: 'none', sm: 'lg' }}
      zIndex={{ base: 'overlay', sm: 'docked' }}
      outline="0"
    >
      <Text display="none" _print={{ display: 'block' }} px="4" pt="4" color="fg.muted">
        {systemName}
      </Text>
      <Flex
        ps={{ base: '2', sm: '5' }}
        pe={{ base: '2', sm: '4' }}
        py="2.5"
        gap="2"
        align="center"
        borderBottomWidth="1px"
        flexShrink="0"
      >
        {phone && <IconButton icon={ArrowLeft} label={t('返回')} onClick={onClose} />}
        <Box flex="1" minW="0">
          <Heading as="h2" textStyle="md" fontWeight="semibold" truncate>
            {title}
          </Heading>
          {subtitle && (
            <Text as="div" textStyle="xs" color="fg.muted" truncate>
              {subtitle}
            </Text>
          )}
        </Box>
        <HStack gap="0.5">
          {actions}
          {printable && <IconButton icon={Printer} label={t('打印')} onClick={() => window.print()} />}
          <IconButton
            icon={ChevronUp}
            label={t('上一条')}
            tip={`${t('上一条')} K`}
            disabled={!onPrevious}
            onClick={onPrevious}
          />
          <IconButton
            icon={ChevronDown}
            label={t('下一条')}
            tip={`${t('下一条')} J`}
            disabled={!onNext}
            onClick={onNext}
          />
          {!phone && <IconButton icon={X} label={t('关闭')} tip={`${t('关闭')} Esc`} onClick={onClose} />}
        </HStack>
      </Flex>
      <Box key={openId} flex="1" overflowY="auto" px={{ base: '4', sm: '5' }} py="4" tabIndex={0} outline="0">
        <HeadingsBelow value="h3">{children}</HeadingsBelow>
      </Box>
    </Flex>
  )
}

/** The neighbours of the open row on this page, for the panel's buttons. */
export function neighbours<Row>(rows: readonly Row[], isOpen: (row: Row) => boolean, open: (row: Row) => void) {
  const index = rows.findIndex(isOpen)
  const step = (by: number) => {
    const row = index < 0 ? undefined : rows[index + by]
    return row === undefined ? undefined : () => open(row)
  }
  return { onPrevious: step(-1), onNext: step(1) }
}
