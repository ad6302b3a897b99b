import { Box, Portal, Stack, Text, chakra } from '@chakra-ui/react'
import { CircleAlert, CircleCheck, Info, TriangleAlert, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { t } from '../i18n/t.ts'
import { IconButton } from './icon-button.tsx'
import { useStore } from '../lib/store.ts'
import { placeOf } from '../lib/use-origin.ts'
import type { Toast } from './notify.ts'
import { dismiss, toasts } from './notify.ts'

const icons = { success: CircleCheck, info: Info, warning: TriangleAlert, error: CircleAlert }
const colors = { success: 'good.fg', info: 'accent.fg', warning: 'warning.fg', error: 'bad.fg' }
const milliseconds = { success: 4000, info: 4000, warning: 6000, error: 9000 }

const ActionButton = chakra('button', {
  base: {
    textStyle: 'sm',
    fontWeight: 'medium',
    color: 'accent.fg',
    textAlign: 'start',
    cursor: 'pointer',
    focusVisibleRing: 'outside',
  },
})

function ToastCard({ toast, paused }: { toast: Toast; paused: boolean }) {
  const Icon = icons[toast.kind]
  useEffect(() => {
    // What offers an act waits until it is read.
    if (paused) return
    const timer = setTimeout(() => dismiss(toast.id), milliseconds[toast.kind] * (toast.action ? 2 : 1))
    return () => clearTimeout(timer)
  }, [toast, paused])
  return (
    <Box
      display="flex"
      gap="2.5"
      ps="3"
      pe="1"
      py="2"
      bg="bg.panel"
      borderRadius="l3"
      boxShadow="lg"
      pointerEvents="auto"
      animation="slide-from-bottom {durations.moderate}, fade-in {durations.moderate}"
    >
      <Box color={colors[toast.kind]} pt="1" flexShrink="0">
        <Icon size={16} aria-hidden />
      </Box>
      <Stack gap="0.5" flex="1" minW="0" py="0.5">
        <Text textStyle="sm" fontWeight="medium" overflowWrap="anywhere">
          {toast.title}
        </Text>
        {toast.description && (
          <Text textStyle="sm" color="fg.muted" whiteSpace="pre-line" overflowWrap="anywhere">
            {toast.description}
          </Text>
        )}
        {toast.action && (
          <ActionButton
            type="button"
            onClick={() => {
              toast.action?.onClick()
              dismiss(toast.id)
            }}
          >
            {toast.action.label}
          </ActionButton>
        )}
      </Stack>
      <IconButton size="2xs" icon={X} label={t('关闭')} onClick={() => dismiss(toast.id)} />
    </Box>
  )
}

/** Mounted once. The region stands before its first message, so that every one is read out; pointer and focus hold them. */
export function Toasts() {
  const shown = useStore(toasts)
  const region = useRef<HTMLDivElement>(null)
  const [isPointedAt, setPointedAt] = useState(false)
  const [hasFocus, setFocus] = useState(false)
  const origin = useRef<Element>(null)
  // React reports no blur where the button that has the focus is removed with its toast.
  useEffect(() => {
    if (hasFocus && document.activeElement === document.body) placeOf(origin.current)?.focus()
    setFocus(region.current?.contains(document.activeElement) ?? false)
  }, [shown, hasFocus])
  return (
    <Portal>
      <Stack
        ref={region}
        role="status"
        aria-live="polite"
        aria-label={t('通知')}
        data-scope="toast"
        position="fixed"
        // Beside the sidebar at its widest, and above what stands at the foot of pages: the pager, and the bar that saves.
        bottom="64px"
        insetStart={{ base: '3', sm: '4', lg: '256px' }}
        w={{ base: 'calc(100vw - 1.5rem)', sm: 'sm' }}
        gap="2"
        zIndex="toast"
        pointerEvents="none"
        onPointerEnter={() => setPointedAt(true)}
        onPointerLeave={() => setPointedAt(false)}
        onFocus={({ currentTarget, relatedTarget }) => {
          if (!currentTarget.contains(relatedTarget)) origin.current = relatedTarget
          setFocus(true)
        }}
        onBlur={() => setFocus(false)}
      >
        {shown.map((toast) => (
          <ToastCard key={toast.id} toast={toast} paused={isPointedAt || hasFocus} />
        ))}
      </Stack>
    </Portal>
  )
}
