import { Box, Skeleton } from '@chakra-ui/react'
import { Info } from 'lucide-react'
import { EmptyState, ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useDocumentTitle } from '../../lib/document-title.ts'
import { useStatus } from '../../lib/status.ts'
import { trpc } from '../../lib/trpc.ts'
import { WrittenPage } from './custom-content.tsx'

const minutes = 60_000

export function Page() {
  useDocumentTitle(t('关于'))
  const { systemName, version } = useStatus()
  const about = trpc.site.about.useQuery(undefined, { staleTime: 5 * minutes })
  if (about.data) return <WrittenPage content={about.data} title={t('关于')} />
  if (about.isPending) {
    return (
      <Box maxW="3xl" mx="auto" px={{ base: '4', sm: '6' }} py="10" aria-busy>
        <Skeleton h="40" />
      </Box>
    )
  }
  if (about.isError) return <ErrorState error={about.error} onRetry={() => void about.refetch()} />
  return (
    <Box py={{ base: '8', sm: '16' }}>
      <EmptyState
        icon={Info}
        headingLevel="h1"
        title={[systemName, version].filter(Boolean).join(' ') || t('关于')}
        description={t('AI 模型接口网关。管理员可以在系统设置中填写这里的内容。')}
      />
    </Box>
  )
}
