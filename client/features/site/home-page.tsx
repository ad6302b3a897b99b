import { Box, Skeleton, Stack } from '@chakra-ui/react'
import { Markdown } from '../../components/markdown.tsx'
import { t } from '../../i18n/t.ts'
import { useDocumentTitle } from '../../lib/document-title.ts'
import { trpc } from '../../lib/trpc.ts'
import { DefaultHome } from './default-home.tsx'
import { WrittenPage } from './custom-content.tsx'

const minutes = 60_000

export function Page() {
  useDocumentTitle(t('首页'))
  const content = trpc.site.homePageContent.useQuery(undefined, { staleTime: 5 * minutes })
  const notice = trpc.site.notice.useQuery(undefined, { staleTime: 5 * minutes })
  // Both at once, and as high as the window: neither the banner nor the footer moves what is read.
  if (notice.isPending || content.isPending) return <Loading />
  return (
    <>
      {notice.data && <Announcement words={notice.data} />}
      {content.data ? <WrittenPage content={content.data} title={t('首页')} /> : <DefaultHome />}
    </>
  )
}

const Loading = () => (
  <Stack
    maxW="5xl"
    minH="100dvh"
    mx="auto"
    w="full"
    px={{ base: '4', sm: '6' }}
    py={{ base: '10', sm: '16' }}
    gap="4"
    aria-busy
  >
    <Skeleton h="12" w="60%" />
    <Skeleton h="6" w="80%" maxW="prose" />
  </Stack>
)

function Announcement({ words }: { words: string }) {
  return (
    <Box as="section" aria-label={t('公告')} borderBottomWidth="1px" bg="bg.muted">
      <Box maxW="5xl" mx="auto" px={{ base: '4', sm: '6' }} py="3">
        {/* Its first line has its room before it is drawn. */}
        <Box minH="1lh" textStyle="md" lineHeight="tall">
          <Markdown source={words} />
        </Box>
      </Box>
    </Box>
  )
}
