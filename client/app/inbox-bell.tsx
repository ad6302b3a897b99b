import { Box } from '@chakra-ui/react'
import { Inbox } from 'lucide-react'
import { useLocation } from 'wouter'
import { IconButton } from '../components/icon-button.tsx'
import { t } from '../i18n/t.ts'
import { useSession } from '../lib/session.ts'
import { trpc } from '../lib/trpc.ts'
import { badgeText, unreadEveryMs } from '../lib/unread.ts'

/** Alone, because the server leaves only the question by itself out of what it counts for an address. */
const alone = { trpc: { context: { alone: true } } }

export function InboxBell() {
  const [, navigate] = useLocation()
  const { user } = useSession()
  const unread = trpc.user.messages.unreadCount.useQuery(undefined, {
    ...alone,
    enabled: user !== undefined,
    refetchInterval: unreadEveryMs,
    refetchOnWindowFocus: true,
    staleTime: unreadEveryMs,
  })
  if (!user) return null
  const count = unread.data ?? 0
  const label = count === 0 ? t('收件箱') : t('收件箱，{count} 条未读', { count })
  return (
    <Box position="relative">
      <IconButton icon={Inbox} label={label} onClick={() => navigate('/app/inbox')} />
      {count > 0 && (
        <Box
          as="span"
          aria-hidden
          position="absolute"
          top="0"
          insetEnd="-1"
          minW="4"
          h="4"
          px="1"
          borderRadius="full"
          bg="accent.solid"
          color="accent.contrast"
          textStyle="2xs"
          fontWeight="semibold"
          textAlign="center"
          pointerEvents="none"
          data-unread=""
        >
          {badgeText(count)}
        </Box>
      )}
    </Box>
  )
}
