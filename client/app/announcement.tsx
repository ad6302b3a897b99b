import { Box, Button, HStack } from '@chakra-ui/react'
import { Markdown } from '../components/markdown.tsx'
import { PlainDialog } from '../components/plain-dialog.tsx'
import { t } from '../i18n/t.ts'
import { fingerprintOf, shownAnnouncement } from '../lib/announcement.ts'
import { useStore } from '../lib/store.ts'
import { trpc } from '../lib/trpc.ts'

const minutes = 60_000

/** The site's announcement, shown once to each browser until its words change. */
export function Announcement() {
  const shown = useStore(shownAnnouncement)
  const { data: words = '' } = trpc.site.notice.useQuery(undefined, { staleTime: 5 * minutes })
  const fingerprint = fingerprintOf(words)
  if (words.trim() === '' || shown === fingerprint) return null
  const close = () => shownAnnouncement.set(fingerprint)
  return (
    <PlainDialog title={t('公告')} onClose={close}>
      <Box maxH="60vh" overflowY="auto" tabIndex={0} role="region" aria-label={t('公告')}>
        <Markdown source={words} />
      </Box>
      <HStack justify="flex-end" pt="4">
        <Button variant="solid" data-autofocus onClick={close}>
          {t('我知道了')}
        </Button>
      </HStack>
    </PlainDialog>
  )
}
