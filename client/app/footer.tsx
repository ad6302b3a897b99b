import { Flex, HStack, Link, Text } from '@chakra-ui/react'
import { useState } from 'react'
import { SafeHtml } from '../components/safe-html.tsx'
import { t, text } from '../i18n/t.ts'
import { useStatus } from '../lib/status.ts'

const credits = [text('由 {name} 驱动'), text('{name} 提供服务'), text('运行于 {name}')] as const

/** The operator's footer, and which site this is: a badge that says it a little differently each time. */
export function Footer() {
  const { footerHtml, systemName, version } = useStatus()
  const [credit] = useState(() => credits[Math.floor(Math.random() * credits.length)] ?? credits[0])
  return (
    <Flex as="footer" justify="center" px="6" py="5" color="fg.subtle" textStyle="xs" flexShrink="0">
      <HStack gap="3" wrap="wrap" justify="center">
        {footerHtml && <SafeHtml html={footerHtml} />}
        {systemName && <Text>{t(credit, { name: `${systemName} ${version}`.trim() })}</Text>}
        <Link href="/api/docs" color="inherit" target="_blank">
          {t('接口文档')}
        </Link>
      </HStack>
    </Flex>
  )
}
