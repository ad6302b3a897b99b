import { Button, Center } from '@chakra-ui/react'
import { Lock } from 'lucide-react'
import { Link } from 'wouter'
import { EmptyState } from '../components/states.tsx'
import { t } from '../i18n/t.ts'
import { useDocumentTitle } from '../lib/document-title.ts'

/** A page that exists, for others. */
export function NotAllowed({ title }: { title: string }) {
  useDocumentTitle(title)
  return (
    <Center minH="60vh">
      <EmptyState
        icon={Lock}
        headingLevel="h1"
        title={t('没有权限打开“{title}”', { title })}
        description={t('此页面只对管理员开放。')}
        action={
          <Button asChild>
            <Link href="/">{t('返回首页')}</Link>
          </Button>
        }
      />
    </Center>
  )
}
