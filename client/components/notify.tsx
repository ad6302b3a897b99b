import { HStack, Stack, Toast, Toaster as ChakraToaster, createToaster } from '@chakra-ui/react'
import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react'
import { t } from '../i18n/t.ts'
import { errorText, requestIdOf } from '../lib/errors.ts'

const toaster = createToaster({ placement: 'top-end', max: 4, overlap: false, gap: 8 })

type More = {
  description?: string
  /** One way to go on, such as undoing. */
  action?: { label: string; onClick: () => void }
}

const show = (type: 'success' | 'info' | 'warning' | 'error', title: string, more: More = {}): void => {
  toaster.create({ type, title, duration: type === 'error' ? 8000 : 4000, ...more })
}

/** Brief messages that need no answer. */
export const notify = {
  success: (title: string, more?: More) => show('success', title, more),
  info: (title: string, more?: More) => show('info', title, more),
  warning: (title: string, more?: More) => show('warning', title, more),
  /** `title` says what was not done; the reason and the request id stand below it. */
  error: (error: unknown, title?: string) => {
    const reason = typeof error === 'string' ? error : errorText(error)
    const id = requestIdOf(error)
    const quoted = id === undefined ? '' : `\n${t('请求 ID')}: ${id}`
    if (title === undefined) show('error', reason, quoted ? { description: quoted.trim() } : {})
    else show('error', title, { description: `${reason}${quoted}` })
  },
}

const icons = { success: CircleCheck, info: Info, warning: TriangleAlert, error: CircleAlert }
const colors = { success: 'good.fg', info: 'accent.fg', warning: 'warning.fg', error: 'bad.fg' }

const kindOf = (type: string | undefined): keyof typeof icons =>
  type === 'success' || type === 'warning' || type === 'error' ? type : 'info'

export function Toasts() {
  return (
    <ChakraToaster toaster={toaster} insetInline={{ base: '3', sm: '4' }}>
      {(toast) => {
        const kind = kindOf(toast.type)
        const Icon = icons[kind]
        return (
          <Toast.Root width={{ base: 'full', sm: 'sm' }}>
            <HStack color={colors[kind]} pt="0.5" flexShrink="0">
              <Icon size={16} aria-hidden />
            </HStack>
            <Stack gap="0.5" flex="1" minW="0">
              <Toast.Title>{toast.title}</Toast.Title>
              {toast.description && (
                <Toast.Description whiteSpace="pre-line" color="fg.muted" overflowWrap="anywhere">
                  {toast.description}
                </Toast.Description>
              )}
            </Stack>
            {toast.action && <Toast.ActionTrigger>{toast.action.label}</Toast.ActionTrigger>}
            <Toast.CloseTrigger aria-label={t('关闭')} />
          </Toast.Root>
        )
      }}
    </ChakraToaster>
  )
}
