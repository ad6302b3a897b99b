import { Button, Center } from '@chakra-ui/react'
import { FileQuestion } from 'lucide-react'
import { Link } from 'wouter'
import { EmptyState } from '../components/states.tsx'
import { t } from '../i18n/t.ts'
import { useDocumentTitle } from '../lib/document-title.ts'

export function NotFound() {
  const title = t('页面不存在')
  useDocumentTitle(title)
  return (
    <Center minH="60vh">
      <EmptyState
        icon={FileQuestion}
        headingLevel="h1"
        title={title}
        description={t('您访问的页面不存在，请检查您的浏览器地址是否正确')}
        action={
          <Button asChild>
            <Link href="/">{t('返回首页')}</Link>
          </Button>
        }
      />
    </Center>
  )
}
